#include "feed/transform/erase.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/pixels/half_float.h"

namespace unstarve::feed {
namespace {

/// Standard normal values, two from two uniform ones (Box and Muller).
class Normal {
 public:
  explicit Normal(SampleRandom random) : random_(random) {}
  float next() {
    has_spare_ = !has_spare_;
    if (!has_spare_) return spare_;
    // 1 - u lies in (0, 1], so that the logarithm is finite.
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    const double angle = 2 * std::numbers::pi * random_.uniform();
    spare_ = static_cast<float>(radius * std::sin(angle));
    return static_cast<float>(radius * std::cos(angle));
  }

 private:
  SampleRandom random_;
  bool has_spare_ = false;
  float spare_ = 0;
};

std::uint8_t to_byte(float value) {
  constexpr float kFar = 1e9F;  // far outside, so that the conversion to a whole number is defined
  return static_cast<std::uint8_t>(static_cast<int>(std::clamp(value, -kFar, kFar)));
}

struct Area {
  ImageSize image;
  Box box;
  bool planar = false;
};

template <class Value, class Convert, class Source>
void fill(const Area& area, Convert convert, Source& source, void* out) {
  auto* values = static_cast<Value*>(out);
  const auto width = static_cast<std::size_t>(area.image.width);
  const std::size_t plane = width * static_cast<std::size_t>(area.image.height);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (int row = 0; row < area.box.height; ++row) {
      const std::size_t first =
          static_cast<std::size_t>(area.box.y + row) * width + static_cast<std::size_t>(area.box.x);
      for (std::size_t i = first; i < first + static_cast<std::size_t>(area.box.width); ++i) {
        values[area.planar ? channel * plane + i : 3 * i + channel] = convert(source(channel));
      }
    }
  }
}

template <class Source>
void fill_as(OutputPlan::Type type, const Area& area, Source source, void* out) {
  switch (type) {
    case OutputPlan::Type::kUint8: return fill<std::uint8_t>(area, to_byte, source, out);
    case OutputPlan::Type::kFloat32:
      return fill<float>(
          area, [](float value) { return value; }, source, out);
    case OutputPlan::Type::kFloat16:
      return fill<std::uint16_t>(area, kernels::to_float16, source, out);
    case OutputPlan::Type::kBfloat16:
      return fill<std::uint16_t>(area, kernels::to_bfloat16, source, out);
  }
}

}  // namespace

void erase(const TransformPlan& plan, const Box& box, SampleRandom random, void* out) {
  const Area area{plan.geometry.size, box, plan.output.layout == OutputPlan::Layout::kNchw};
  if (plan.erasing->noise) {
    Normal normal(random);
    fill_as(
        plan.output.type, area, [&normal](std::size_t) { return normal.next(); }, out);
  } else {
    const std::array<float, 3>& value = plan.erasing->value;
    fill_as(
        plan.output.type, area, [&value](std::size_t channel) { return value[channel]; }, out);
  }
}

}  // namespace unstarve::feed
