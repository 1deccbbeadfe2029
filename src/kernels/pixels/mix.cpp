#include "kernels/pixels/mix.h"

#include <algorithm>

namespace unstarve::kernels {

void ImageMix::begin(float weight, const std::uint8_t* values, std::size_t count) {
  image_.assign(values, values + count);
  sums_.resize(count);
  for (std::size_t i = 0; i < count; ++i) sums_[i] = weight * static_cast<float>(values[i]);
}

void ImageMix::add(float weight, std::uint8_t* values) {
  float* const sums = sums_.data();
  const std::size_t count = sums_.size();
  for (std::size_t i = 0; i < count; ++i) sums[i] += weight * static_cast<float>(values[i]);
  std::copy(image_.begin(), image_.end(), values);
}

void ImageMix::finish(std::uint8_t* values) const {
  const float* const sums = sums_.data();
  const std::size_t count = sums_.size();
  for (std::size_t i = 0; i < count; ++i) {
    // Weights may add up to a little more than 1.
    values[i] = static_cast<std::uint8_t>(static_cast<int>(std::min(sums[i], 255.0F)));
  }
}

}  // namespace unstarve::kernels
