#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace unstarve::kernels {

/// An image mixed from changed copies of itself, as by torchvision's AugMix: in float32, of which
/// the fraction is cut off at the end. Keeps its memory from image to image.
class ImageMix {
 public:
  /// Of `count` values, with the weight of the image as it is.
  void begin(float weight, const std::uint8_t* values, std::size_t count);
  /// Adds a changed copy, and leaves the image as it was at `values`.
  void add(float weight, std::uint8_t* values);
  /// Leaves the mixture at `values`.
  void finish(std::uint8_t* values) const;

 private:
  std::vector<std::uint8_t> image_;
  std::vector<float> sums_;
};

}  // namespace unstarve::kernels
