#include "base/number_words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/units.h"

namespace unstarve {

namespace {

constexpr const char* kUnknown = "unknown";

struct Unit {
  double size;
  std::string_view name;
};

/// With the first unit that it reaches once rounded; the last one is counted in whole numbers.
template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units) {
  constexpr double kRoundedUp = 0.9995;
  for (std::size_t i = 0; i + 1 < N; ++i) {
    if (std::abs(value) >= kRoundedUp * units[i].size) {
      return fmt::format("{} {}", number_text(value / units[i].size), units[i].name);
    }
  }
  return fmt::format("{:.0f} {}", value, units.back().name);
}

/// From a minute on: "1 min 15 s".
std::string long_duration_text(double s) {
  const auto whole = std::llround(s);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return kUnknown;
  if (std::abs(value) >= 1e9) return fmt::format("{:.3g}", value);
  if (std::abs(value) >= 99.95) return fmt::format("{:.0f}", value);
  return std::abs(value) >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string percent_text(double ratio) {
  if (!std::isfinite(ratio)) return kUnknown;
  const double percent = 100 * ratio;
  return fmt::format("{:.{}f} %", percent, percent < 9.95 ? 1 : 0);
}

std::string percent_cell(double ratio) {
  return std::isfinite(ratio) ? fmt::format("{:.1f} %", 100 * ratio) : kUnknown;
}

std::string duration_text(double ns) {
  constexpr double kMinuteNs = 60 * kNsPerS;
  constexpr double kLongestNs = 1e9 * kNsPerS;  // 30 years
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  if (!std::isfinite(ns)) return kUnknown;
  if (ns < kMinuteNs || ns > kLongestNs) return in_units(ns, kUnits);
  return long_duration_text(ns / kNsPerS);
}

std::string microseconds_text(double us) { return duration_text(us * kNsPerUs); }

std::string seconds_text(double s) { return duration_text(s * kNsPerS); }

std::string bytes_text(double bytes) {
  constexpr std::array<Unit, 5> kUnits = {
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  return std::isfinite(bytes) ? in_units(bytes, kUnits) : kUnknown;
}

std::string factor_text(double speedup) { return number_text(speedup) + "x"; }

}  // namespace unstarve
