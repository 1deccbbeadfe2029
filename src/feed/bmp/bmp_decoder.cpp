#include "feed/bmp/bmp_decoder.h"

#include <algorithm>
#include <cstring>

#include "feed/data/decode_errors.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

constexpr std::size_t kFileHeader = 14;
constexpr std::size_t kInfoHeader = 40;  // the first of Windows' own; later ones are longer

template <class Number>
Number read(std::span<const std::byte> file, std::size_t at) {
  Number number;
  std::memcpy(&number, file.data() + at, sizeof(number));  // little-endian, as we are
  return number;
}

/// What the two headers say.
struct Headers {
  std::uint32_t pixels_at = 0;
  std::uint32_t header_bytes = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;  // below 0: the first row is the top one
  std::uint16_t bits = 0;
  std::uint32_t compression = 0;
  std::uint32_t colours = 0;  // 0: as many as there can be
};

Result<Headers> read_headers(std::span<const std::byte> file) {
  if (file.size() < kFileHeader + kInfoHeader) {
    return fail(ErrorCode::kCorruptData, "a BMP that ends within its header");
  }
  Headers headers;
  headers.pixels_at = read<std::uint32_t>(file, 10);
  headers.header_bytes = read<std::uint32_t>(file, 14);
  headers.width = read<std::int32_t>(file, 18);
  headers.height = read<std::int32_t>(file, 22);
  headers.bits = read<std::uint16_t>(file, 28);
  headers.compression = read<std::uint32_t>(file, 30);
  headers.colours = read<std::uint32_t>(file, 46);
  if (headers.header_bytes < kInfoHeader) {
    return fail(ErrorCode::kNotSupported, "a BMP of OS/2, or of a kind before Windows 3");
  }
  if (headers.compression != 0) {
    return fail(ErrorCode::kNotSupported, "a BMP of compression {}: only 0 is decoded",
                headers.compression);
  }
  if (headers.bits != 8 && headers.bits != 24 && headers.bits != 32) {
    return fail(ErrorCode::kNotSupported, "a BMP of {} bits a pixel: 8, 24 and 32 are decoded",
                headers.bits);
  }
  return headers;
}

}  // namespace

bool is_bmp(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{'B'} && file[1] == std::byte{'M'};
}

Result<ImageSize> BmpDecoder::open(std::span<const std::byte> file) {
  const Result<Headers> headers = read_headers(file);
  if (!headers) return forward_error(headers);
  const std::int64_t width = headers->width;
  const std::int64_t height =
      headers->height < 0 ? -std::int64_t{headers->height} : headers->height;
  if (width <= 0 || height <= 0) {
    return fail(ErrorCode::kCorruptData, "a BMP of {} x {} pixels", width, height);
  }
  if (Status status = check_pixels(width, height, max_pixels_); !status)
    return forward_error(status);
  stride_ = static_cast<std::size_t>((width * headers->bits + 31) / 32 * 4);
  const std::size_t bytes = stride_ * static_cast<std::size_t>(height);
  const std::size_t at = headers->pixels_at;
  if (at > file.size() || bytes > file.size() - at) {
    return cut_short();
  }
  bits_ = headers->bits;
  if (bits_ == 8) {
    const Status read = read_palette(file, kFileHeader + headers->header_bytes, headers->colours);
    if (!read) return forward_error(read);
  }
  from_the_top_ = headers->height < 0;
  pixels_ = file.subspan(at, bytes);
  size_ = {static_cast<int>(width), static_cast<int>(height)};
  return size_;
}

Status BmpDecoder::read_palette(std::span<const std::byte> file, std::size_t at,
                                std::size_t count) {
  constexpr std::size_t kMost = 256;
  constexpr std::size_t kEntry = 4;  // blue, green, red, nothing
  if (count == 0) count = kMost;
  if (count > kMost || at > file.size() || count * kEntry > file.size() - at) {
    return fail(ErrorCode::kCorruptData, "a BMP whose {} colours do not lie in it", count);
  }
  palette_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto* entry = reinterpret_cast<const std::uint8_t*>(file.data() + at + i * kEntry);
    palette_.push_back({entry[2], entry[1], entry[0]});
  }
  return {};
}

const std::uint8_t* BmpDecoder::row(int y) const {
  const int stored = from_the_top_ ? y : size_.height - 1 - y;
  return reinterpret_cast<const std::uint8_t*>(pixels_.data()) +
         stride_ * static_cast<std::size_t>(stored);
}

/// An index without a colour is for others to judge: PIL's answer depends on its version.
Status BmpDecoder::convert(const std::uint8_t* pixels, int width, std::uint8_t* rgb) const {
  if (bits_ == 8) {
    for (int x = 0; x < width; ++x, rgb += 3) {
      const std::size_t index = pixels[x];
      if (index >= palette_.size()) {
        return fail(ErrorCode::kNotSupported, "colour {} of a palette of {}", index,
                    palette_.size());
      }
      std::copy(palette_[index].begin(), palette_[index].end(), rgb);
    }
    return {};
  }
  const int step = bits_ / 8;
  for (int x = 0; x < width; ++x, pixels += step, rgb += 3) {
    rgb[0] = pixels[2];
    rgb[1] = pixels[1];
    rgb[2] = pixels[0];
  }
  return {};
}

Status BmpDecoder::decode(const Box& region, RowSink& sink) {
  const std::size_t stride = static_cast<std::size_t>(region.width) * 3;
  rows_.resize(std::max(rows_.size(), stride * kStripRows + kRowPadding));
  const std::ptrdiff_t begin = std::ptrdiff_t{region.x} * (bits_ / 8);
  for (int y = region.y; y < region.y + region.height; y += kStripRows) {
    const int count = std::min(kStripRows, region.y + region.height - y);
    for (int i = 0; i < count; ++i) {
      std::uint8_t* const rgb = rows_.data() + stride * static_cast<std::size_t>(i);
      if (Status done = convert(row(y + i) + begin, region.width, rgb); !done) return done;
    }
    sink.rows(rows_.data(), static_cast<std::ptrdiff_t>(stride), count);
  }
  return {};
}

}  // namespace unstarve::feed
