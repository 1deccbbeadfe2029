#include "feed/data/transform_plan.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace unstarve::feed {
namespace {

Status check(bool holds, std::string_view field, std::string_view rule) {
  if (holds) return {};
  return fail(ErrorCode::kInvalidArgument, "{} must be {}", field, rule);
}

bool is_probability(double value) { return value >= 0 && value <= 1; }

bool is_side(int side) { return side >= 1 && side <= 16384; }

bool is_mirrored(const Surround& surround) {
  return surround.mode == Surround::Mode::kReflect || surround.mode == Surround::Mode::kSymmetric;
}

/// Whether an image of this size has the pixels that are mirrored into the padding.
bool can_mirror(const Padding& padding, ImageSize image) {
  if (!is_mirrored(padding.surround)) return true;
  // The pixels of the edge are not repeated.
  const int aside = padding.surround.mode == Surround::Mode::kReflect ? 1 : 0;
  return std::max(padding.left, padding.right) + aside <= image.width &&
         std::max(padding.top, padding.bottom) + aside <= image.height;
}

bool fits_into(const GeometryPlan& plan, ImageSize image) {
  const Padding& padding = plan.padding;
  const ImageSize size = framed_size(plan);
  return size.width <= image.width + padding.left + padding.right &&
         size.height <= image.height + padding.top + padding.bottom && can_mirror(padding, image);
}

Status check_resize(const GeometryPlan& plan) {
  const ImageSize to = plan.resize_to;
  const bool is_exact = to.width != 0 || to.height != 0;
  Status status = check(is_side(plan.resize_short), "resize_short", "1 to 16384 pixels");
  if (status && is_exact) {
    status = check(is_side(to.width) && is_side(to.height), "resize_to", "1 to 16384 pixels");
  }
  if (!status || plan.kind != GeometryPlan::Kind::kResizeRandomCrop) return status;
  const ImageSize least = is_exact ? to : ImageSize{plan.resize_short, plan.resize_short};
  return check(fits_into(plan, least), "size", "within the resized image, for a random crop of it");
}

/// What is cut out of it must hold a pixel of the image, and all that is mirrored.
Status check_padding(const GeometryPlan& plan) {
  const Padding& padding = plan.padding;
  const ImageSize size = framed_size(plan);
  const int times = is_mirrored(padding.surround) ? 2 : 1;
  const auto is_narrow = [times](int width, int side) {
    return width >= 0 && width <= (side - 1) / times;
  };
  Status status =
      check(is_narrow(padding.left, size.width) && is_narrow(padding.right, size.width) &&
                is_narrow(padding.top, size.height) && is_narrow(padding.bottom, size.height),
            "padding", "0 or more pixels and narrower than the crop; mirrored, than half of it");
  if (status && plan.pads_if_needed) {
    status = check(!is_mirrored(padding.surround), "padding_mode",
                   "one that mirrors nothing, where an image may be too small");
  }
  return status;
}

Status check_frame(const GeometryPlan& plan) {
  const Padding& frame = plan.frame;
  const auto is_width = [](int width) { return width >= 0 && width <= 16384; };
  Status status = check(is_width(frame.left) && is_width(frame.right) && is_width(frame.top) &&
                            is_width(frame.bottom),
                        "frame", "0 to 16384 pixels");
  if (!status) return status;
  const ImageSize size = framed_size(plan);
  status = check(size.width >= 1 && size.height >= 1, "frame", "narrower than the output");
  if (status) status = check(can_mirror(frame, size), "frame", "no wider than what it mirrors");
  return status;
}

Status check_geometry(const GeometryPlan& plan) {
  Status status =
      check(is_side(plan.size.width) && is_side(plan.size.height), "size", "1 to 16384 pixels");
  if (status) status = check_frame(plan);
  if (status) status = check_padding(plan);
  if (status) status = check_resize(plan);
  if (status && plan.kind == GeometryPlan::Kind::kRandomResizedCrop) {
    status = check(plan.scale_min > 0 && plan.scale_min <= plan.scale_max && plan.scale_max <= 1,
                   "scale", "two shares of the area, 0 < low <= high <= 1");
    if (status) {
      status = check(
          plan.ratio_min > 0 && plan.ratio_min <= plan.ratio_max && std::isfinite(plan.ratio_max),
          "ratio", "two ratios of width to height, 0 < low <= high");
    }
  }
  if (status) {
    status = check(is_probability(plan.horizontal_flip_probability) &&
                       is_probability(plan.vertical_flip_probability),
                   "flip_probability", "0 to 1");
  }
  return status;
}

Status check_bounds(const std::optional<ColourStep::Bounds>& bounds, std::string_view field) {
  if (!bounds) return {};
  return check(bounds->low >= 0 && bounds->low <= bounds->high && std::isfinite(bounds->high),
               field, "two factors, 0 <= low <= high");
}

bool is_nearest_or_bilinear(AugmentPlan::Between between) {
  return between == AugmentPlan::Between::kNearest || between == AugmentPlan::Between::kBilinear;
}

Status check_change(const AugmentChange& change) {
  Status status = check(is_probability(change.probability), "probability", "0 to 1");
  const bool known = change.kind >= AugmentChange::Kind::kIdentity &&
                     change.kind <= AugmentChange::Kind::kSolarizeAdd;
  if (status) status = check(known, "kind", "one of the changes");
  const bool has_value = change.kind == AugmentChange::Kind::kSolarizeAdd ||
                         (change.kind > AugmentChange::Kind::kIdentity &&
                          change.kind < AugmentChange::Kind::kAutoContrast);
  if (status) {
    status = check(!has_value || !change.magnitudes.empty(), "magnitudes", "one number at least");
  }
  for (const double magnitude : change.magnitudes) {
    // Moved further than an image reaches, or turned by more, nothing is gained.
    if (status) status = check(std::abs(magnitude) <= 16384, "magnitudes", "-16384 to 16384");
  }
  return status;
}

Status check_augment(const AugmentPlan& plan) {
  Status status = check(plan.rounds >= 0 && plan.rounds <= 64, "rounds", "0 to 64");
  if (status) status = check(!plan.sets.empty(), "sets", "one set at least");
  for (const auto& set : plan.sets) {
    for (const AugmentChange& change : set) {
      if (status) status = check_change(change);
    }
  }
  return status;
}

Status check_mix(const MixPlan& plan) {
  Status status = check(plan.width >= 1 && plan.width <= 64, "width", "1 to 64");
  if (status) status = check(plan.depth >= 0 && plan.depth <= 64, "depth", "0 to 64");
  if (status) status = check(!plan.changes.empty(), "changes", "one at least");
  // What is drawn stays far from the limits of a double.
  if (status) status = check(plan.alpha >= 0.01 && plan.alpha <= 1e6, "alpha", "0.01 to 1e6");
  if (status) {
    status = check(is_nearest_or_bilinear(plan.between), "between", "nearest or bilinear");
  }
  for (const AugmentChange& change : plan.changes) {
    if (status) status = check_change(change);
  }
  return status;
}

Status check_blur(const BlurPlan& plan, ImageSize size) {
  const auto fits = [](int taps, int side) {
    return taps >= 1 && taps <= 255 && taps % 2 == 1 && taps / 2 < side;
  };
  Status status = check(fits(plan.taps_across, size.width) && fits(plan.taps_down, size.height),
                        "kernel_size", "odd, 1 to 255, half of it less than the output's sides");
  if (status) {
    status = check(
        plan.sigma_min > 0 && plan.sigma_min <= plan.sigma_max && std::isfinite(plan.sigma_max),
        "sigma", "two deviations, 0 < low <= high");
  }
  return status;
}

Status check_affine(const AffinePlan& plan) {
  const auto within = [](const AffinePlan::Range& range, double low, double high) {
    return range[0] >= low && range[0] <= range[1] && range[1] <= high;
  };
  constexpr double kTurns = 3600.0;
  constexpr double kLeast = 1.0 / 64;  // as large or small as anybody has it
  Status status = check(within(plan.degrees, -kTurns, kTurns), "degrees",
                        "two angles, -3600 <= low <= high <= 3600");
  // At 90 degrees nothing is left of the image, and places no longer fit into 64 bits.
  if (status) {
    status = check(within(plan.shear_x, -80.0, 80.0) && within(plan.shear_y, -80.0, 80.0), "shear",
                   "two angles, -80 <= low <= high <= 80");
  }
  if (status) {
    status = check(within(plan.scale, kLeast, 1 / kLeast), "scale",
                   "two factors, 1/64 <= low <= high <= 64");
  }
  if (status) {
    status = check(is_probability(plan.across) && is_probability(plan.down), "translate",
                   "shares of the sides, 0 to 1");
  }
  if (status) {
    status = check(plan.between != AugmentPlan::Between::kEither, "between", "one of the kinds");
  }
  return status;
}

Status check_perspective(const PerspectivePlan& plan, ImageSize size) {
  Status status = check(is_probability(plan.distortion), "distortion", "a share, 0 to 1");
  // Of one row or column nothing can be told apart from its opposite.
  if (status) status = check(size.width > 1 && size.height > 1, "size", "2 pixels or more");
  if (status) {
    status = check(is_nearest_or_bilinear(plan.between), "between", "nearest or bilinear");
  }
  return status;
}

Status check_elastic(const ElasticPlan& plan, ImageSize size) {
  constexpr double kMost = 31.0;  // of which 8 times fit into the taps of a blur
  const auto is_deviation = [&](double sigma) {
    const bool is_known = sigma >= 0 && sigma <= kMost;
    return is_known && static_cast<int>(8 * sigma + 1) / 2 < std::min(size.width, size.height);
  };
  const auto& [across, down] = plan.sigma;
  Status status = check(is_deviation(across) && is_deviation(down) && (across > 0) == (down > 0),
                        "sigma", "two deviations, 0 to 31, for which the output is large enough");
  for (const double alpha : plan.alpha) {
    if (status) status = check(std::abs(alpha) <= 16384, "alpha", "-16384 to 16384");
  }
  if (status) {
    status = check(is_nearest_or_bilinear(plan.between), "between", "nearest or bilinear");
  }
  return status;
}

Status check_jpeg(const JpegPlan& plan) {
  const bool is_range = 1 <= plan.quality_min && plan.quality_min <= plan.quality_max;
  return check(is_range && plan.quality_max <= 100, "quality",
               "two qualities, 1 <= low <= high <= 100");
}

Status check_colour(const ColourStep& step, ImageSize size, int depth = 0);

Status check_choices(const std::vector<ColourChoice>& choices, ImageSize size, int depth) {
  constexpr int kDeepest = 8;
  Status status = check(depth < kDeepest, "choices", "nested less than 8 times");
  double weights = 0;
  for (const ColourChoice& choice : choices) {
    if (status) status = check(choice.weight >= 0, "weight", "0 or more");
    weights += choice.weight;
    for (const ColourStep& step : choice.steps) {
      if (status) status = check_colour(step, size, depth + 1);
    }
  }
  if (status) status = check(weights > 0 && std::isfinite(weights), "weights", "above 0 in all");
  return status;
}

Status check_colour(const ColourStep& step, ImageSize size, int depth) {
  Status status = check(is_probability(step.probability), "probability", "0 to 1");
  if (!status) return status;
  if (step.kind == ColourStep::Kind::kAugment) return check_augment(step.augment);
  if (step.kind == ColourStep::Kind::kMix) return check_mix(step.mix);
  if (step.kind == ColourStep::Kind::kChoice) return check_choices(step.choices, size, depth);
  if (step.kind == ColourStep::Kind::kElastic) return check_elastic(step.elastic, size);
  if (step.kind == ColourStep::Kind::kJpeg) return check_jpeg(step.jpeg);
  if (step.kind == ColourStep::Kind::kBlur) return check_blur(step.blur, size);
  if (step.kind == ColourStep::Kind::kAffine) return check_affine(step.affine);
  if (step.kind == ColourStep::Kind::kPerspective) {
    return check_perspective(step.perspective, size);
  }
  if (status) status = check_bounds(step.brightness, "brightness");
  if (status) status = check_bounds(step.contrast, "contrast");
  if (status) status = check_bounds(step.saturation, "saturation");
  if (status && step.hue) {
    status =
        check(step.hue->low >= -0.5 && step.hue->low <= step.hue->high && step.hue->high <= 0.5,
              "hue", "two shifts, -0.5 <= low <= high <= 0.5");
  }
  return status;
}

Status check_output(const OutputPlan& plan) {
  const bool normalises = plan.mean || plan.deviation;
  Status status = check(plan.mean.has_value() == plan.deviation.has_value(), "mean",
                        "given together with the standard deviation");
  if (status && plan.deviation) {
    for (const float value : *plan.deviation) {
      if (status) status = check(value > 0 && std::isfinite(value), "std", "above zero");
    }
  }
  if (status && plan.type == OutputPlan::Type::kUint8) {
    status = check(!normalises && !plan.scale_to_unit, "dtype",
                   "a floating-point type when pixels are scaled or normalised");
  }
  if (status) {
    status = check(plan.scale_to_unit || !plan.scale_by_reciprocal, "scale_by_reciprocal",
                   "left out where pixels are not scaled");
  }
  return status;
}

Status check_noise(const NoisePlan& plan, OutputPlan::Type type) {
  Status status = check(is_probability(plan.probability), "probability", "0 to 1");
  if (status) status = check(type == OutputPlan::Type::kFloat32, "noise", "added to float32");
  // Far more than any value has.
  constexpr double kMost = 1e6;
  if (status) status = check(std::abs(plan.mean) <= kMost, "mean", "-1e6 to 1e6");
  if (status) {
    status = check(plan.deviation >= 0 && plan.deviation <= kMost, "deviation", "0 to 1e6");
  }
  return status;
}

Status check_erasing(const ErasingPlan& plan) {
  Status status = check(is_probability(plan.probability), "probability", "0 to 1");
  if (status) {
    status = check(plan.scale_min >= 0 && plan.scale_min <= plan.scale_max && plan.scale_max <= 1,
                   "scale", "two shares of the area, 0 <= low <= high <= 1");
  }
  if (status) {
    status = check(
        plan.ratio_min > 0 && plan.ratio_min <= plan.ratio_max && std::isfinite(plan.ratio_max),
        "ratio", "two ratios of width to height, 0 < low <= high");
  }
  for (const float value : plan.value) {
    if (status) status = check(std::isfinite(value), "value", "finite numbers");
  }
  return status;
}

}  // namespace

ImageSize framed_size(const GeometryPlan& plan) {
  return {plan.size.width - plan.frame.left - plan.frame.right,
          plan.size.height - plan.frame.top - plan.frame.bottom};
}

bool fits(const GeometryPlan& plan, ImageSize image) {
  return plan.kind != GeometryPlan::Kind::kRandomCrop || plan.pads_if_needed ||
         fits_into(plan, image);
}

Status validate(const TransformPlan& plan) {
  if (Status status = check_geometry(plan.geometry); !status) return status;
  for (const ColourStep& step : plan.colour) {
    if (Status status = check_colour(step, plan.geometry.size); !status) return status;
  }
  if (Status status = check_output(plan.output); !status) return status;
  if (plan.noise) {
    if (Status status = check_noise(*plan.noise, plan.output.type); !status) return status;
  }
  if (plan.erasing) return check_erasing(*plan.erasing);
  return {};
}

TransformPlan training_crop(int size) {
  TransformPlan plan;
  plan.geometry.size = {size, size};
  plan.geometry.horizontal_flip_probability = 0.5;
  return plan;
}

TransformPlan evaluation_crop(int size, int resize_short) {
  TransformPlan plan;
  plan.geometry.kind = GeometryPlan::Kind::kResizeCenterCrop;
  plan.geometry.size = {size, size};
  plan.geometry.resize_short = resize_short;
  return plan;
}

std::size_t value_bytes(OutputPlan::Type type) {
  switch (type) {
    case OutputPlan::Type::kUint8: return 1;
    case OutputPlan::Type::kFloat32: return 4;
    case OutputPlan::Type::kFloat16:
    case OutputPlan::Type::kBfloat16: return 2;
  }
  return 1;
}

std::size_t image_bytes(const TransformPlan& plan) {
  const ImageSize& size = plan.geometry.size;
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3 *
         value_bytes(plan.output.type);
}

}  // namespace unstarve::feed
