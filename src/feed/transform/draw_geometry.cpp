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

Box random_crop(const GeometryPlan& plan, ImageSize image, SampleRandom& random) {
  const double area = static_cast<double>(image.width) * image.height;
  const double log_ratio_min = std::log(plan.ratio_min);
  const double log_ratio_max = std::log(plan.ratio_max);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target_area = area * random.uniform(plan.scale_min, plan.scale_max);
    const double ratio = std::exp(random.uniform(log_ratio_min, log_ratio_max));
    const int width = round_half_even(std::sqrt(target_area * ratio));
    const int height = round_half_even(std::sqrt(target_area / ratio));
    if (width > 0 && width <= image.width && height > 0 && height <= image.height) {
      const auto y = random.below(static_cast<std::uint32_t>(image.height - height + 1));
      const auto x = random.below(static_cast<std::uint32_t>(image.width - width + 1));
      return {static_cast<int>(x), static_cast<int>(y), width, height};
    }
  }
  return central_crop(image, plan.ratio_min, plan.ratio_max);
}

/// Where a window of `window` pixels begins in `size` pixels, as CenterCrop has it; below zero
/// where the window is larger.
int centred(int size, int window) {
  if (window > size) return -((window - size) / 2);
  return round_half_even((size - window) / 2.0);
}

Box centre_window(ImageSize image, ImageSize window) {
  return {centred(image.width, window.width), centred(image.height, window.height), window.width,
          window.height};
}

/// The size after Resize(shorter), which cuts the longer side's fraction off.
ImageSize resized_to_short_side(ImageSize image, int shorter) {
  const auto scaled = [shorter](int longer_side, int shorter_side) {
    constexpr std::int64_t kLongest = 1 << 30;  // far past what an image file can hold
    return static_cast<int>(std::min(kLongest, std::int64_t{shorter} * longer_side / shorter_side));
  };
  if (image.width <= image.height) return {shorter, scaled(image.height, image.width)};
  return {scaled(image.width, image.height), shorter};
}

ImageSize resized(const GeometryPlan& plan, ImageSize image) {
  if (plan.resize_to.width > 0) return plan.resize_to;
  return resized_to_short_side(image, plan.resize_short);
}

/// As RandomCrop has it: the row is drawn before the column. Begins below zero where it is cut from
/// the padding.
Box random_window(const GeometryPlan& plan, ImageSize image, SampleRandom& random) {
  const ImageSize window = framed_size(plan);
  Padding padding = plan.padding;
  const auto lacks = [&plan](int there, int wanted) {
    return plan.pads_if_needed ? std::max(0, wanted - there) : 0;
  };
  const int across = lacks(image.width + padding.left + padding.right, window.width);
  const int down = lacks(image.height + padding.top + padding.bottom, window.height);
  padding.left += across;
  padding.right += across;
  padding.top += down;
  padding.bottom += down;
  const int width = image.width + padding.left + padding.right;
  const int height = image.height + padding.top + padding.bottom;
  const auto y = random.below(static_cast<std::uint32_t>(height - window.height + 1));
  const auto x = random.below(static_cast<std::uint32_t>(width - window.width + 1));
  return {static_cast<int>(x) - padding.left, static_cast<int>(y) - padding.top, window.width,
          window.height};
}

}  // namespace

SampleGeometry draw_geometry(const GeometryPlan& plan, ImageSize image, SampleRandom& random) {
  SampleGeometry geometry;
  geometry.interpolation = plan.interpolation;
  if (plan.either_interpolation) {
    geometry.interpolation =
        random.below(2) == 1 ? Interpolation::kBicubic : Interpolation::kBilinear;
  }
  geometry.crop = {0, 0, image.width, image.height};
  const ImageSize size = framed_size(plan);
  geometry.target = size;
  geometry.window = {0, 0, size.width, size.height};
  geometry.surround = plan.padding.surround;
  geometry.frame = plan.frame;
  switch (plan.kind) {
    case GeometryPlan::Kind::kRandomResizedCrop:
      geometry.crop = random_crop(plan, image, random);
      break;
    case GeometryPlan::Kind::kResizeCenterCrop:
      geometry.target = resized(plan, image);
      geometry.window = centre_window(geometry.target, size);
      break;
    case GeometryPlan::Kind::kResizeRandomCrop:
      geometry.target = resized(plan, image);
      geometry.window = random_window(plan, geometry.target, random);
      break;
    case GeometryPlan::Kind::kRandomCrop:
      geometry.target = image;
      geometry.window = random_window(plan, image, random);
      break;
    case GeometryPlan::Kind::kCenterCrop:
      geometry.target = image;
      geometry.window = centre_window(image, size);
      break;
    case GeometryPlan::Kind::kResize: break;
  }
  geometry.flip = random.uniform() < plan.horizontal_flip_probability;
  geometry.vertical_flip = random.uniform() < plan.vertical_flip_probability;
  return geometry;
}

}  // namespace unstarve::feed
