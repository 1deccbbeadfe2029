#include "feed/gif/gif_file.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "feed/data/decode_errors.h"

namespace unstarve::feed {
namespace {

constexpr std::size_t kGifSignature = 6;
constexpr std::size_t kGifScreen = 13;  // with the signature
constexpr std::size_t kGifImage = 9;
constexpr unsigned kGifHasPalette = 0x80;
constexpr unsigned kGifInterlaced = 0x40;

constexpr unsigned kGifExtensionMark = '!';
constexpr unsigned kGifImageMark = ',';
constexpr unsigned kGifEndMark = ';';
constexpr unsigned kGraphicControl = 0xF9;
constexpr unsigned kComment = 0xFE;
constexpr unsigned kApplication = 0xFF;

using GifPalette = std::vector<std::array<std::uint8_t, 3>>;

/// Reads a file from its beginning on; what is asked for beyond its end is an error.
class GifCursor {
 public:
  explicit GifCursor(std::span<const std::byte> file) : file_(file) {}

  Result<std::span<const std::byte>> take(std::size_t count) {
    if (count > rest().size()) return cut_short();
    at_ += count;
    return file_.subspan(at_ - count, count);
  }
  Result<unsigned> byte() {
    const auto taken = take(1);
    if (!taken) return forward_error(taken);
    return std::to_integer<unsigned>(taken->front());
  }
  /// A block's length, and so many bytes; none: it ends a sequence of them.
  Result<std::span<const std::byte>> block() {
    const Result<unsigned> length = byte();
    if (!length) return forward_error(length);
    return take(*length);
  }
  Status pass_blocks() {
    for (;;) {
      const auto passed = block();
      if (!passed) return forward_error(passed);
      if (passed->empty()) return {};
    }
  }
  std::span<const std::byte> rest() const { return file_.subspan(at_); }

 private:
  std::span<const std::byte> file_;
  std::size_t at_ = 0;
};

unsigned gif_byte(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

int gif_number(std::span<const std::byte> bytes, std::size_t at) {
  return static_cast<int>(gif_byte(bytes, at) | gif_byte(bytes, at + 1) << 8);
}

Status read_gif_palette(GifCursor& cursor, unsigned flags, GifPalette& palette) {
  const std::size_t count = std::size_t{2} << (flags & 7);
  const auto bytes = cursor.take(3 * count);
  if (!bytes) return forward_error(bytes);
  palette.clear();
  for (std::size_t at = 0; at < bytes->size(); at += 3) {
    const auto part = [&](std::size_t i) {
      return static_cast<std::uint8_t>(gif_byte(*bytes, at + i));
    };
    palette.push_back({part(0), part(1), part(2)});
  }
  return {};
}

/// Whether each index is its own grey. PIL then makes the image one of greys, without a palette.
bool is_grey_ramp(const GifPalette& palette) {
  for (std::size_t i = 0; i < palette.size(); ++i) {
    const auto grey = static_cast<std::uint8_t>(i);
    if (palette[i] != std::array{grey, grey, grey}) return false;
  }
  return true;
}

GifPalette all_greys() {
  GifPalette palette;
  for (unsigned i = 0; i < 256; ++i) {
    const auto grey = static_cast<std::uint8_t>(i);
    palette.push_back({grey, grey, grey});
  }
  return palette;
}

/// Passes what stands between images. The transparent index of the last one that names one counts.
Status read_extension(GifCursor& cursor, std::optional<std::uint8_t>& transparent) {
  constexpr std::string_view kLoops = "NETSCAPE2.0";
  const Result<unsigned> kind = cursor.byte();
  if (!kind) return forward_error(kind);
  auto block = cursor.block();
  if (!block) return forward_error(block);
  if (block->empty()) {
    if (*kind == kComment) return {};
    return fail(ErrorCode::kNotSupported, "a GIF with an empty extension: left to Pillow");
  }
  if (*kind == kGraphicControl) {
    if (block->size() < 4) return fail(ErrorCode::kCorruptData, "a GIF with a short extension");
    const bool has_transparent = (gif_byte(*block, 0) & 1U) != 0;
    if (has_transparent) transparent = static_cast<std::uint8_t>(gif_byte(*block, 3));
  }
  const std::string_view text(reinterpret_cast<const char*>(block->data()), block->size());
  if (*kind == kApplication && text.substr(0, kLoops.size()) == kLoops) {
    block = cursor.block();
    if (!block) return forward_error(block);
    if (block->empty()) {
      return fail(ErrorCode::kNotSupported, "a GIF with an empty extension: left to Pillow");
    }
  }
  return cursor.pass_blocks();
}

/// Up to the mark of the first image. Bytes that are none of a GIF's are passed, as PIL does.
Status find_image(GifCursor& cursor, std::optional<std::uint8_t>& transparent) {
  for (;;) {
    const Result<unsigned> mark = cursor.byte();
    if (!mark) return forward_error(mark);
    if (*mark == kGifImageMark) return {};
    if (*mark == kGifEndMark) return fail(ErrorCode::kCorruptData, "a GIF without an image");
    if (*mark != kGifExtensionMark) continue;
    if (Status passed = read_extension(cursor, transparent); !passed) return passed;
  }
}

/// The image's header and its palette, which replaces the screen's.
Status read_gif_image(GifCursor& cursor, GifFile& gif) {
  const auto header = cursor.take(kGifImage);
  if (!header) return forward_error(header);
  gif.image = {gif_number(*header, 0), gif_number(*header, 2), gif_number(*header, 4),
               gif_number(*header, 6)};
  if (gif.image.width == 0 || gif.image.height == 0) {
    return fail(ErrorCode::kCorruptData, "a GIF of an image of {} x {} pixels", gif.image.width,
                gif.image.height);
  }
  gif.size.width = std::max(gif.size.width, gif.image.x + gif.image.width);
  gif.size.height = std::max(gif.size.height, gif.image.y + gif.image.height);
  const unsigned flags = gif_byte(*header, 8);
  gif.is_interlaced = (flags & kGifInterlaced) != 0;
  if ((flags & kGifHasPalette) == 0) return {};
  const bool screen_has_colours = !gif.palette.empty() && !is_grey_ramp(gif.palette);
  if (Status read = read_gif_palette(cursor, flags, gif.palette); !read) return read;
  if (screen_has_colours && is_grey_ramp(gif.palette)) {
    return fail(ErrorCode::kNotSupported,
                "a GIF of greys on a screen of colours: left to Pillow, which takes these");
  }
  return {};
}

}  // namespace

bool is_gif(std::span<const std::byte> file) {
  if (file.size() < kGifSignature) return false;
  const std::string_view begin(reinterpret_cast<const char*>(file.data()), kGifSignature);
  return begin == "GIF87a" || begin == "GIF89a";
}

Status read_gif(std::span<const std::byte> file, std::int64_t max_pixels, GifFile& gif) {
  if (!is_gif(file)) return fail(ErrorCode::kNotSupported, "no GIF");
  GifCursor cursor(file);
  const auto screen = cursor.take(kGifScreen);
  if (!screen) return forward_error(screen);
  gif.size = {gif_number(*screen, 6), gif_number(*screen, 8)};
  gif.palette.clear();
  const unsigned flags = gif_byte(*screen, 10);
  if ((flags & kGifHasPalette) != 0) {
    if (Status read = read_gif_palette(cursor, flags, gif.palette); !read) return read;
  }
  std::optional<std::uint8_t> transparent;
  if (Status found = find_image(cursor, transparent); !found) return found;
  if (Status read = read_gif_image(cursor, gif); !read) return read;
  max_pixels = std::min<std::int64_t>(max_pixels, INT32_MAX);
  if (Status status = check_pixels(gif.size.width, gif.size.height, max_pixels); !status) {
    return status;
  }
  if (gif.palette.empty()) gif.palette = all_greys();
  gif.background = transparent.value_or(0);
  const Result<unsigned> bits = cursor.byte();
  if (!bits) return forward_error(bits);
  if (*bits < 2 || *bits > 8) {
    return fail(ErrorCode::kNotSupported, "a GIF of {} bits a pixel: 2 to 8 are decoded", *bits);
  }
  gif.code_bits = static_cast<int>(*bits);
  gif.blocks = cursor.rest();
  return {};
}

void join_blocks(std::span<const std::byte> blocks, std::vector<std::byte>& codes) {
  codes.clear();
  GifCursor cursor(blocks);
  for (auto block = cursor.block(); block && !block->empty(); block = cursor.block()) {
    codes.insert(codes.end(), block->begin(), block->end());
  }
}

}  // namespace unstarve::feed
