#include "feed/tiff/tiff_decoder.h"

#include <algorithm>

#include "feed/data/inks.h"
#include "kernels/resize.h"

namespace unstarve::feed {

using kernels::kRowPadding;
using kernels::kStripRows;

namespace {

Box overlap(const Box& a, const Box& b) {
  const int left = std::max(a.x, b.x);
  const int top = std::max(a.y, b.y);
  return {left, top, std::min(a.x + a.width, b.x + b.width) - left,
          std::min(a.y + a.height, b.y + b.height) - top};
}

}  // namespace

bool tiff_is_rgb(std::span<const std::byte> file) {
  TiffFile tiff;
  return read_tiff(file, INT64_MAX, tiff) && tiff.is_rgb;
}

bool tiff_may_turn(std::span<const std::byte> file) {
  TiffFile tiff;
  return !read_tiff(file, INT64_MAX, tiff);
}

Result<ImageSize> TiffDecoder::open(std::span<const std::byte> file) {
  if (Status read = read_tiff(file, max_pixels_, tiff_); !read) return forward_error(read);
  return tiff_.size;
}

/// Pixels `first` and following of a piece's row.
void TiffDecoder::convert(const std::uint8_t* row, int first, int count, std::uint8_t* rgb) const {
  if (tiff_.colour != TiffColour::kTable) {
    const std::uint8_t* pixel = row + std::ptrdiff_t{first} * tiff_.samples;
    if (tiff_.colour == TiffColour::kRgb && tiff_.samples == 3) {
      std::copy(pixel, pixel + std::ptrdiff_t{3} * count, rgb);
      return;
    }
    for (int x = 0; x < count; ++x, pixel += tiff_.samples, rgb += 3) {
      if (tiff_.colour == TiffColour::kRgb) {
        std::copy(pixel, pixel + 3, rgb);
      } else {
        const auto left = rgb_of_inks({pixel[0], pixel[1], pixel[2]}, 255 - pixel[3]);
        std::copy(left.begin(), left.end(), rgb);
      }
    }
    return;
  }
  const unsigned mask = (1U << tiff_.bits) - 1;
  const int step = tiff_.bits * tiff_.samples;
  std::ptrdiff_t bit = std::ptrdiff_t{first} * step;
  for (int x = 0; x < count; ++x, bit += step, rgb += 3) {
    const int below = 8 - tiff_.bits - static_cast<int>(bit % 8);
    const auto& colour = tiff_.colours[row[bit / 8] >> below & mask];
    std::copy(colour.begin(), colour.end(), rgb);
  }
}

/// What of the region lies in `piece`: `part`, in pixels of the image.
Status TiffDecoder::place(std::size_t piece, const Box& part, const Box& region) {
  const auto stored = pieces_.unpack(tiff_, piece);
  if (!stored) return forward_error(stored);
  const int across = static_cast<int>(piece) % tiff_.pieces_across;
  const int down = static_cast<int>(piece) / tiff_.pieces_across;
  const int top = std::max(region.y, down * tiff_.piece.height);
  for (int y = part.y; y < part.y + part.height; ++y) {
    const auto row = static_cast<std::size_t>(y - down * tiff_.piece.height);
    const std::ptrdiff_t to = 3 * (std::ptrdiff_t{y - top} * region.width + (part.x - region.x));
    convert(stored->data() + row * tiff_.bytes_of_a_row(), part.x - across * tiff_.piece.width,
            part.width, rows_.data() + to);
  }
  return {};
}

Status TiffDecoder::decode(const Box& region, RowSink& sink) {
  const ImageSize& size = tiff_.piece;
  const std::size_t stride = static_cast<std::size_t>(region.width) * 3;
  const int most = std::min(size.height, region.height);
  rows_.resize(std::max(rows_.size(), stride * static_cast<std::size_t>(most) + kRowPadding));
  const int last_down = (region.y + region.height - 1) / size.height;
  const int last_across = (region.x + region.width - 1) / size.width;
  for (int down = region.y / size.height; down <= last_down; ++down) {
    int ready = 0;
    for (int across = region.x / size.width; across <= last_across; ++across) {
      const Box piece = {across * size.width, down * size.height, size.width, size.height};
      const Box part = overlap(piece, region);
      const auto index =
          static_cast<std::size_t>(down) * static_cast<std::size_t>(tiff_.pieces_across) +
          static_cast<std::size_t>(across);
      if (Status placed = place(index, part, region); !placed) return placed;
      ready = part.height;
    }
    for (int y = 0; y < ready; y += kStripRows) {
      sink.rows(rows_.data() + stride * static_cast<std::size_t>(y),
                static_cast<std::ptrdiff_t>(stride), std::min(kStripRows, ready - y));
    }
  }
  return {};
}

}  // namespace unstarve::feed
