#include "feed/gif/gif_decoder.h"

#include <algorithm>

#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

/// Where row `y` of an interlaced image of `height` rows lies in the file: every eighth comes
/// first, then those in the middle between them, then those between all of these, twice.
int stored_row(int y, int height) {
  int before = 0;
  if (y % 8 == 0) return y / 8;
  before += (height + 7) / 8;
  if (y % 8 == 4) return before + y / 8;
  before += (height + 3) / 8;
  if (y % 4 == 2) return before + y / 4;
  before += (height + 1) / 4;
  return before + y / 2;
}

bool covers_screen(const Box& image, const ImageSize& screen) {
  return image.x == 0 && image.y == 0 && image.width == screen.width &&
         image.height == screen.height;
}

}  // namespace

Result<ImageSize> GifDecoder::open(std::span<const std::byte> file) {
  if (Status read = read_gif(file, max_pixels_, gif_); !read) return forward_error(read);
  return gif_.size;
}

/// An index without a colour is for others to judge: PIL's answer depends on its version.
Status GifDecoder::check_colours(std::span<const std::uint8_t> indices) const {
  std::size_t highest = covers_screen(gif_.image, gif_.size) ? 0 : gif_.background;
  if (gif_.palette.size() >> gif_.code_bits == 0) {
    highest = std::max<std::size_t>(highest, *std::max_element(indices.begin(), indices.end()));
  }
  if (highest < gif_.palette.size()) return {};
  return fail(ErrorCode::kNotSupported, "colour {} of a palette of {}: left to Pillow", highest,
              gif_.palette.size());
}

void GifDecoder::convert(const std::uint8_t* indices, int count, std::uint8_t* rgb) const {
  for (int x = 0; x < count; ++x, rgb += 3) {
    const auto& colour = gif_.palette[indices[x]];
    std::copy(colour.begin(), colour.end(), rgb);
  }
}

void GifDecoder::write_row(std::span<const std::uint8_t> indices, int y, const Box& region,
                           std::uint8_t* rgb) const {
  const Box& image = gif_.image;
  const int left = std::clamp(image.x - region.x, 0, region.width);
  const int right = std::clamp(image.x + image.width - region.x, left, region.width);
  const bool is_beside = y < image.y || y >= image.y + image.height || left == right;
  if (is_beside || left > 0 || right < region.width) {
    const auto& around = gif_.palette[gif_.background];
    for (int x = 0; x < region.width; ++x) std::copy(around.begin(), around.end(), rgb + 3 * x);
  }
  if (is_beside) return;
  const int row = gif_.is_interlaced ? stored_row(y - image.y, image.height) : y - image.y;
  const std::ptrdiff_t first = std::ptrdiff_t{row} * image.width + (region.x + left - image.x);
  convert(indices.data() + first, right - left, rgb + std::ptrdiff_t{3} * left);
}

Status GifDecoder::decode(const Box& region, RowSink& sink) {
  const std::size_t count =
      static_cast<std::size_t>(gif_.image.width) * static_cast<std::size_t>(gif_.image.height);
  join_blocks(gif_.blocks, codes_);
  const auto indices = unpacker_.unpack(codes_, LzwKind::kGif, gif_.code_bits, count);
  if (!indices) return forward_error(indices);
  if (Status known = check_colours(*indices); !known) return known;
  const std::size_t stride = static_cast<std::size_t>(region.width) * 3;
  rows_.resize(std::max(rows_.size(), stride * kStripRows + kRowPadding));
  for (int y = region.y; y < region.y + region.height; y += kStripRows) {
    const int ready = std::min(kStripRows, region.y + region.height - y);
    for (int i = 0; i < ready; ++i) {
      write_row(*indices, y + i, region, rows_.data() + stride * static_cast<std::size_t>(i));
    }
    sink.rows(rows_.data(), static_cast<std::ptrdiff_t>(stride), ready);
  }
  return {};
}

}  // namespace unstarve::feed
