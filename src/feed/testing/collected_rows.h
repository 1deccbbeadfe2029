#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "feed/data/geometry.h"

namespace unstarve::feed::test {

using Pixels = std::vector<std::uint8_t>;  // RGB, rows without gaps

/// Keeps the rows that a decoder hands over.
class CollectedRows final : public RowSink {
 public:
  explicit CollectedRows(int width) : width_(width) {}
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override {
    for (int row = 0; row < count; ++row) {
      const std::uint8_t* of_row = first + row * stride;
      pixels.insert(pixels.end(), of_row, of_row + std::ptrdiff_t{width_} * 3);
    }
  }
  Pixels pixels;

 private:
  int width_;
};

/// What `decoder` makes of a region of `encoded`.
template <class Decoder, class Encoded>
Result<Pixels> decode_region(Decoder& decoder, const Encoded& encoded, const Box& region) {
  const Result<ImageSize> size = decoder.open(encoded);
  if (!size) return forward_error(size);
  CollectedRows sink(region.width);
  if (Status status = decoder.decode(region, sink); !status) return forward_error(status);
  return std::move(sink.pixels);
}

/// Whether a file that `decoder` accepts has every row of its image.
template <class Decoder>
bool has_every_row(Decoder& decoder, std::span<const std::byte> file) {
  const Result<ImageSize> image = decoder.open(file);
  if (!image) return true;
  const auto pixels = decode_region(decoder, file, Box{0, 0, image->width, image->height});
  const auto pixels_in_all =
      static_cast<std::size_t>(image->width) * static_cast<std::size_t>(image->height);
  return !pixels || pixels->size() == 3 * pixels_in_all;
}

/// A rectangle of an image.
inline Pixels cut(const Pixels& whole, int whole_width, const Box& box) {
  Pixels result;
  for (int y = box.y; y < box.y + box.height; ++y) {
    const auto* row = whole.data() + 3 * (std::ptrdiff_t{y} * whole_width + box.x);
    result.insert(result.end(), row, row + 3 * std::ptrdiff_t{box.width});
  }
  return result;
}

}  // namespace unstarve::feed::test
