#include "feed/transform/draw_geometry.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace unstarve::feed {
namespace {

/// Rounds halves to even, as Python's round() does.
int round_half_even(double value) { return static_cast<int>(std::nearbyint(value)); }

Box central_crop(ImageSize image, double ratio_min, double ratio_max) {
  Box box{0, 0, image.width, image.height};
  const double ratio = static_cast<double>(image.width) / image.height;
  if (ratio < ratio_min) box.height = round_half_even(image.width / ratio_min);
  if (ratio > ratio_max) box.width = round_half_even(image.height * ratio_max);
  // Extreme shapes round to nothing, or past the edge.
  box.width = std::clamp(box.width, 1, image.width);
  box.height = std::clamp(box.height, 1, image.height);
  box.x = (image.width - box.width) / 2;
  box.y = (image.height - box.height) / 2;
  return box;
}

Box random_crop(const LoaderOptions& options, ImageSize image, SampleRandom& random) {
  const double area = static_cast<double>(image.width) * image.height;
  const double log_ratio_min = std::log(options.ratio_min);
  const double log_ratio_max = std::log(options.ratio_max);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target_area = area * random.uniform(options.scale_min, options.scale_max);
    const double ratio = std::exp(random.uniform(log_ratio_min, log_ratio_max));
    const int width = round_half_even(std::sqrt(target_area * ratio));
    const int height = round_half_even(std::sqrt(target_area / ratio));
    if (width > 0 && width <= image.width && height > 0 && height <= image.height) {
      const auto y = random.below(static_cast<std::uint32_t>(image.height - height + 1));
      const auto x = random.below(static_cast<std::uint32_t>(image.width - width + 1));
      return {static_cast<int>(x), static_cast<int>(y), width, height};
    }
  }
  return central_crop(image, options.ratio_min, options.ratio_max);
}

SampleGeometry train_geometry(const LoaderOptions& options, ImageSize image, SampleRandom& random) {
  SampleGeometry geometry;
  geometry.crop = random_crop(options, image, random);
  geometry.target = {options.size, options.size};
  geometry.window = {0, 0, options.size, options.size};
  geometry.flip = random.uniform() < options.flip_probability;
  return geometry;
}

SampleGeometry eval_geometry(const LoaderOptions& options, ImageSize image) {
  SampleGeometry geometry;
  geometry.crop = {0, 0, image.width, image.height};
  const int longer = std::max(image.width, image.height);
  const int shorter = std::min(image.width, image.height);
  const auto long_side = static_cast<int>(std::int64_t{options.resize_short} * longer / shorter);
  geometry.target = image.width <= image.height ? ImageSize{options.resize_short, long_side}
                                                : ImageSize{long_side, options.resize_short};
  geometry.window = {round_half_even((geometry.target.width - options.size) / 2.0),
                     round_half_even((geometry.target.height - options.size) / 2.0), options.size,
                     options.size};
  return geometry;
}

}  // namespace

SampleGeometry draw_geometry(const LoaderOptions& options, ImageSize image, SampleRandom& random) {
  return options.task == SampleTask::kTrainCrop ? train_geometry(options, image, random)
                                                : eval_geometry(options, image);
}

}  // namespace unstarve::feed
