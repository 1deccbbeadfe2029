#include "examine/calibration/transforms/transform_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace unstarve::examine {

namespace {

using feed::ColourStep;
using feed::GeometryPlan;
using Numbers = std::vector<double>;

constexpr double kLargestSide = 65'536;

/// `Resize(size=256, interpolation=bilinear)`.
struct Words {
  std::string_view name;
  std::string_view arguments;
};

Words split(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {text, {}};
  return {text.substr(0, open), text.substr(open + 1)};
}

/// What stands behind `key=`; empty where it is not said.
std::string_view value_of(const Words& words, std::string_view key) {
  std::size_t at = words.arguments.find(key);
  while (at != std::string_view::npos) {
    const bool begins = at == 0 || words.arguments[at - 1] == ' ' || words.arguments[at - 1] == ',';
    const std::string_view rest = words.arguments.substr(at + key.size());
    if (begins && !rest.empty() && rest.front() == '=') return rest.substr(1);
    at = words.arguments.find(key, at + 1);
  }
  return {};
}

/// The numbers of a value: one, or those within brackets. None where it is something else.
Numbers numbers_of(const Words& words, std::string_view key) {
  std::string_view text = value_of(words, key);
  const bool many = !text.empty() && (text.front() == '(' || text.front() == '[');
  if (many) text.remove_prefix(1);
  Numbers numbers;
  while (!text.empty()) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || !std::isfinite(number)) break;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    const std::size_t next = text.find_first_not_of(", ");
    if (!many || next == std::string_view::npos) break;
    text.remove_prefix(next);
  }
  return numbers;
}

double number_of(const Words& words, std::string_view key, double otherwise) {
  const Numbers numbers = numbers_of(words, key);
  return numbers.empty() ? otherwise : numbers.front();
}

int side_of(double number) { return static_cast<int>(std::clamp(number, 0.0, kLargestSide)); }

/// `(height, width)`, or one number for both.
std::optional<feed::ImageSize> size_of(const Words& words) {
  const Numbers sides = numbers_of(words, "size");
  if (sides.empty() || sides.size() > 2) return std::nullopt;
  return feed::ImageSize{.width = side_of(sides.back()), .height = side_of(sides.front())};
}

feed::Interpolation interpolation_of(const Words& words) {
  return value_of(words, "interpolation").starts_with("bicubic") ? feed::Interpolation::kBicubic
                                                                 : feed::Interpolation::kBilinear;
}

std::optional<ColourStep::Bounds> bounds_of(const Words& words, std::string_view key) {
  const Numbers numbers = numbers_of(words, key);
  if (numbers.size() != 2) return std::nullopt;
  return ColourStep::Bounds{numbers[0], numbers[1]};
}

/// Puts a plan together, one transform after the other.
class PlanMaker {
 public:
  PlanMaker() {
    plan_.output.layout = feed::OutputPlan::Layout::kNchw;
    plan_.geometry.horizontal_flip_probability = 0;
  }

  /// False where the transform is not known.
  bool add(const Words& words) {
    return add_geometry(words) || add_colour(words) || add_output(words);
  }

  /// None where nothing says how large an image comes out.
  std::optional<feed::TransformPlan> plan() const {
    return sized_ ? std::optional(plan_) : std::nullopt;
  }

 private:
  bool add_geometry(const Words& words) {
    if (words.name == "RandomHorizontalFlip") {
      plan_.geometry.horizontal_flip_probability = number_of(words, "p", 0.5);
      return true;
    }
    if (words.name == "RandomVerticalFlip") {
      plan_.geometry.vertical_flip_probability = number_of(words, "p", 0.5);
      return true;
    }
    const auto size = size_of(words);
    if (!size) return false;
    if (words.name == "RandomResizedCrop") return !sized_ && random_resized_crop(words, *size);
    if (words.name == "Resize") return !sized_ && resize(words, *size);
    if (words.name == "CenterCrop")
      return crop({GeometryPlan::Kind::kResizeCenterCrop, GeometryPlan::Kind::kCenterCrop}, *size);
    return words.name == "RandomCrop" && random_crop(words, *size);
  }

  bool random_crop(const Words& words, feed::ImageSize size) {
    const Numbers widths = numbers_of(words, "padding");
    const auto is_width = [](double number) { return number >= 0 && number <= 16384; };
    if (!std::all_of(widths.begin(), widths.end(), is_width)) return false;
    const auto width = [&widths](std::size_t side) {
      return widths.empty() ? 0 : static_cast<int>(widths[side % widths.size()]);
    };
    plan_.geometry.padding = {width(0), width(1), width(2), width(3)};
    return crop({GeometryPlan::Kind::kResizeRandomCrop, GeometryPlan::Kind::kRandomCrop}, size);
  }

  bool random_resized_crop(const Words& words, feed::ImageSize size) {
    GeometryPlan& geometry = plan_.geometry;
    const Numbers scale = numbers_of(words, "scale");
    const Numbers ratio = numbers_of(words, "ratio");
    geometry.kind = GeometryPlan::Kind::kRandomResizedCrop;
    geometry.size = size;
    if (scale.size() == 2) geometry.scale_min = scale[0];
    if (scale.size() == 2) geometry.scale_max = scale[1];
    if (ratio.size() == 2) geometry.ratio_min = ratio[0];
    if (ratio.size() == 2) geometry.ratio_max = ratio[1];
    geometry.interpolation = interpolation_of(words);
    sized_ = true;
    return true;
  }

  /// Of one side alone, images come out in different sizes until they are cropped.
  bool resize(const Words& words, feed::ImageSize size) {
    GeometryPlan& geometry = plan_.geometry;
    const bool of_both = numbers_of(words, "size").size() == 2;
    geometry.kind = GeometryPlan::Kind::kResize;
    geometry.interpolation = interpolation_of(words);
    geometry.size = size;
    if (of_both) geometry.resize_to = size;
    if (!of_both) geometry.resize_short = size.width;
    sized_ = of_both;
    resized_ = true;
    return true;
  }

  struct CropKinds {
    GeometryPlan::Kind of_resized;
    GeometryPlan::Kind alone;
  };

  bool crop(const CropKinds& kinds, feed::ImageSize size) {
    GeometryPlan& geometry = plan_.geometry;
    const bool as_large =
        sized_ && geometry.size.width == size.width && geometry.size.height == size.height;
    if (as_large) return true;
    if (sized_ && !resized_) return false;
    geometry.kind = resized_ ? kinds.of_resized : kinds.alone;
    geometry.size = size;
    sized_ = true;
    resized_ = false;
    return true;
  }

  bool add_colour(const Words& words) {
    ColourStep step;
    if (words.name == "ColorJitter") {
      step.brightness = bounds_of(words, "brightness");
      step.contrast = bounds_of(words, "contrast");
      step.saturation = bounds_of(words, "saturation");
      step.hue = bounds_of(words, "hue");
    } else if (words.name == "RandomGrayscale") {
      step.kind = ColourStep::Kind::kGreyscale;
      step.probability = number_of(words, "p", 0.1);
    } else if (words.name == "Grayscale" && number_of(words, "num_output_channels", 1) == 3) {
      step.kind = ColourStep::Kind::kGreyscale;
    } else {
      return false;
    }
    plan_.colour.push_back(step);
    return true;
  }

  bool add_output(const Words& words) {
    constexpr std::array<std::string_view, 3> kOfBytes = {"ToImage", "PILToTensor", "ToPureTensor"};
    if (std::find(kOfBytes.begin(), kOfBytes.end(), words.name) != kOfBytes.end()) return true;
    const bool scales = words.name == "ToTensor" || words.name == "ConvertImageDtype" ||
                        (words.name == "ToDtype" && value_of(words, "scale").starts_with("True"));
    if (scales) {
      plan_.output.type = feed::OutputPlan::Type::kFloat32;
      plan_.output.scale_to_unit = true;
      return true;
    }
    if (words.name == "Normalize") return normalize(words);
    if (words.name != "RandomErasing") return false;
    plan_.erasing = feed::ErasingPlan{.probability = number_of(words, "p", 0.5)};
    return true;
  }

  bool normalize(const Words& words) {
    const Numbers mean = numbers_of(words, "mean");
    const Numbers deviation = numbers_of(words, "std");
    if (mean.size() != 3 || deviation.size() != 3) return false;
    const auto triple = [](const Numbers& numbers) {
      return std::array<float, 3>{static_cast<float>(numbers[0]), static_cast<float>(numbers[1]),
                                  static_cast<float>(numbers[2])};
    };
    plan_.output.type = feed::OutputPlan::Type::kFloat32;
    plan_.output.mean = triple(mean);
    plan_.output.deviation = triple(deviation);
    return true;
  }

  feed::TransformPlan plan_;
  bool sized_ = false;
  bool resized_ = false;
};

}  // namespace

Result<feed::TransformPlan> plan_of_transforms(std::span<const std::string> words) {
  PlanMaker maker;
  for (const std::string& text : words) {
    if (!maker.add(split(text))) {
      return fail(ErrorCode::kNotSupported, "what {} costs natively is not known", text);
    }
  }
  const std::optional<feed::TransformPlan> plan = maker.plan();
  if (!plan) {
    return fail(ErrorCode::kNotSupported, "no transform says how large an image comes out");
  }
  if (const Status sound = feed::validate(*plan); !sound) return forward_error(sound);
  return *plan;
}

}  // namespace unstarve::examine
