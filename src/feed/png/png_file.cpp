#include "feed/png/png_file.h"

#include <algorithm>
#include <string_view>

#include "feed/data/decode_errors.h"
#include "feed/png/inflate.h"

namespace unstarve::feed {
namespace {

constexpr std::array<std::uint8_t, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
constexpr std::size_t kHeaderBytes = 13;
constexpr std::size_t kMostColours = 256;

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number = number << 8U | static_cast<std::uint32_t>(bytes[at + i]);
  }
  return number;
}

constexpr std::size_t kAround = 12;  // the bytes of a chunk that holds nothing

/// Its length, four letters, what it holds, a checksum of the last two.
Result<PngChunk> chunk_at(std::span<const std::byte> file, std::size_t at) {
  if (file.size() - at < kAround) return cut_short();
  const std::size_t length = number_at(file, at);
  if (length > file.size() - at - kAround) return cut_short();
  return PngChunk{file.subspan(at + 4, 4 + length), number_at(file, at + 8 + length)};
}

bool has_depth(PngColour colour, int depth) {
  const auto among = [depth](auto... known) { return ((depth == known) || ...); };
  switch (colour) {
    case PngColour::kGrey: return among(1, 2, 4, 8, 16);
    case PngColour::kPalette: return among(1, 2, 4, 8);
    case PngColour::kRgb:
    case PngColour::kGreyAlpha:
    case PngColour::kRgbAlpha: return among(8, 16);
  }
  return false;
}

Status read_header(std::span<const std::byte> held, std::int64_t max_pixels, PngFile& png) {
  if (held.size() < kHeaderBytes) return fail(ErrorCode::kCorruptData, "a PNG's header too short");
  const std::int64_t width = number_at(held, 0);
  const std::int64_t height = number_at(held, 4);
  constexpr std::int64_t kLongest = INT32_MAX;
  if (width == 0 || height == 0 || width > kLongest || height > kLongest) {
    return fail(ErrorCode::kCorruptData, "a PNG of {} x {} pixels", width, height);
  }
  if (Status status = check_pixels(width, height, max_pixels); !status) return status;
  const auto field = [held](std::size_t at) { return static_cast<int>(held[at]); };
  png.width = static_cast<int>(width);
  png.height = static_cast<int>(height);
  png.depth = field(8);
  png.colour = static_cast<PngColour>(field(9));
  png.is_interlaced = field(12) == 1;
  if (!has_depth(png.colour, png.depth)) {
    return fail(ErrorCode::kCorruptData, "a PNG of colour type {} with {} bits", field(9),
                field(8));
  }
  if (field(10) != 0 || field(11) != 0 || field(12) > 1) {
    return fail(ErrorCode::kNotSupported, "a PNG packed by method {}, {}, {}", field(10), field(11),
                field(12));
  }
  return {};
}

Status read_palette(std::span<const std::byte> held, PngFile& png) {
  if (!png.palette.empty() || held.size() % 3 != 0 || held.size() > 3 * kMostColours) {
    return fail(ErrorCode::kNotSupported, "a PNG with {} bytes of colours", held.size());
  }
  for (std::size_t at = 0; at < held.size(); at += 3) {
    const auto part = [&held, at](std::size_t i) {
      return static_cast<std::uint8_t>(held[at + i]);
    };
    png.palette.push_back({part(0), part(1), part(2)});
  }
  return {};
}

/// What stands before the pixels and is not the header.
Status read_part(const PngChunk& chunk, PngFile& png) {
  if (chunk.kind() == "PLTE") return read_palette(chunk.held(), png);
  if (chunk.kind() == "acTL") return fail(ErrorCode::kNotSupported, "a PNG with an animation");
  const bool matters = (static_cast<unsigned char>(chunk.kind()[0]) & 0x20U) == 0;
  if (matters) {
    return fail(ErrorCode::kNotSupported, "a PNG with a part that is not known: it is critical");
  }
  return {};
}

}  // namespace

std::string_view PngChunk::kind() const {
  return {reinterpret_cast<const char*>(letters_and_held.data()), 4};
}

bool PngChunk::is_sound() const { return crc32_of(letters_and_held) == checksum; }

bool is_png(std::span<const std::byte> file) {
  return file.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(),
                    reinterpret_cast<const std::uint8_t*>(file.data()));
}

int PngFile::channels() const {
  switch (colour) {
    case PngColour::kGrey:
    case PngColour::kPalette: return 1;
    case PngColour::kGreyAlpha: return 2;
    case PngColour::kRgb: return 3;
    case PngColour::kRgbAlpha: return 4;
  }
  return 1;
}

std::size_t PngFile::bytes_of_a_row(int row_width) const {
  const auto bits =
      static_cast<std::size_t>(row_width) * static_cast<std::size_t>(bits_of_a_pixel());
  return (bits + 7) / 8;
}

Status read_png(std::span<const std::byte> file, std::int64_t max_pixels, PngFile& png) {
  if (!is_png(file)) return fail(ErrorCode::kNotSupported, "no PNG");
  png.palette.clear();
  png.data.clear();
  bool has_header = false;
  for (std::size_t at = kSignature.size();;) {
    const Result<PngChunk> chunk = chunk_at(file, at);
    if (!chunk) return forward_error(chunk);
    const bool holds_pixels = chunk->kind() == "IDAT";
    if (!png.data.empty() && !holds_pixels) {
      png.ends_with_pixels = chunk->kind() == "IEND";
      break;
    }
    if (has_header == (chunk->kind() == "IHDR")) {
      return fail(ErrorCode::kCorruptData, "a PNG whose header is not where it must be");
    }
    // That of the pixels is not looked at, as by PIL: their stream has its own.
    if (!holds_pixels && !chunk->is_sound()) {
      return fail(ErrorCode::kCorruptData, "a PNG with a damaged part at byte {}", at);
    }
    Status status;
    if (!has_header) {
      status = read_header(chunk->held(), max_pixels, png);
    } else if (holds_pixels) {
      png.data.push_back(*chunk);
    } else {
      status = read_part(*chunk, png);
    }
    if (!status) return status;
    has_header = true;
    at += kAround + chunk->held().size();
  }
  if (png.colour == PngColour::kPalette && png.palette.empty()) {
    return fail(ErrorCode::kNotSupported, "a PNG of colours that it does not name");
  }
  return {};
}

}  // namespace unstarve::feed
