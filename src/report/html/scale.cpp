#include "report/html/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace unstarve::report {

double Scale::position(double value) const {
  const double fraction = (value - low) / (high - low);
  return std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
}

std::string Scale::percent(double value) const { return svg_percent(position(value)); }

std::string svg_percent(double fraction) { return fmt::format("{:.2f}%", fraction * 100); }

std::vector<double> round_ticks(const Scale& scale, int wanted) {
  const double range = scale.high - scale.low;
  if (!(range > 0) || !std::isfinite(range)) return {};
  const double rough = range / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double leading = rough / power;
  const double step = power * (leading <= 1 ? 1 : leading <= 2 ? 2 : leading <= 5 ? 5 : 10);
  std::vector<double> ticks;
  constexpr double kSlack = 1e-9;  // of a step, against rounding at the ends
  const auto first = static_cast<long long>(std::ceil(scale.low / step - kSlack));
  const auto last = static_cast<long long>(std::floor(scale.high / step + kSlack));
  for (long long i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

}  // namespace unstarve::report
