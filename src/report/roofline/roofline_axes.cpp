#include "report/roofline/roofline_axes.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace unstarve::report {

namespace {

constexpr double kFarthest = 1e6;  // from the roofs; beyond it a point lies on the edge

double part_of_logarithm(double value, double low, double high) {
  if (!(value > 0)) return 0;
  return std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0);
}

double power_below(double value) { return std::pow(10, std::floor(std::log10(value))); }
double power_above(double value) { return std::pow(10, std::ceil(std::log10(value))); }

void add_plateaus(const roofline::Position& position, RooflineAxes& axes) {
  const roofline::KnownRoofs& roofs = position.roofs;
  std::set<std::string> dtypes;
  for (const auto& [dtype, count] : position.flops.by_dtype) dtypes.insert(dtype);
  if (dtypes.empty()) {
    for (const auto* all : {&roofs.products, &roofs.product_specs}) {
      for (const auto& [dtype, roof] : *all) dtypes.insert(dtype);
    }
  }
  for (const std::string& dtype : dtypes) {
    const roofline::UsedRoof* const roof = roofs.product(dtype);
    if (roof == nullptr) continue;
    axes.plateaus.push_back({dtype, *roof, roof->value / axes.bytes_per_s});
  }
  std::stable_sort(axes.plateaus.begin(), axes.plateaus.end(),
                   [](const auto& a, const auto& b) { return a.roof.value > b.roof.value; });
}

}  // namespace

double RooflineAxes::x(double flop_per_byte) const {
  return part_of_logarithm(flop_per_byte, low_x, high_x);
}

double RooflineAxes::y(double flop_per_s) const {
  return part_of_logarithm(flop_per_s, low_y, high_y);
}

RooflineAxes roofline_axes(const roofline::Position& position, std::size_t most) {
  RooflineAxes axes;
  const roofline::UsedRoof* const memory = position.roofs.any_memory();
  if (memory == nullptr) return axes;
  axes.bytes_per_s = memory->value;
  add_plateaus(position, axes);
  if (axes.plateaus.size() > most) axes.plateaus.resize(most);
  if (axes.plateaus.empty()) return axes;
  const Plateau& highest = axes.plateaus.front();
  const Plateau& lowest = axes.plateaus.back();
  axes.low_x = power_below(lowest.ridge) / 10;
  axes.high_x = power_above(highest.ridge) * 10;
  if (position.flop_per_byte && *position.flop_per_byte > 0) {
    const double at =
        std::clamp(*position.flop_per_byte, axes.low_x / kFarthest, axes.high_x * kFarthest);
    axes.low_x = std::min(axes.low_x, power_below(at));
    axes.high_x = std::max(axes.high_x, power_above(at));
  }
  axes.high_y = power_above(highest.roof.value * 1.5);
  axes.low_y = power_below(lowest.roof.value) / 100;
  if (position.flop_per_s && *position.flop_per_s > 0) {
    const double at = std::max(*position.flop_per_s, axes.low_y / kFarthest);
    axes.low_y = std::min(axes.low_y, power_below(at));
  }
  return axes;
}

}  // namespace unstarve::report
