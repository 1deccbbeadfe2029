#include "cli/shard_text.h"

#include <fmt/format.h>
#include <cmath>

#include <algorithm>
#include <array>
#include <cstdint>

namespace unstarve::cli {

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 100 ? 1 : 0, kUnits.at(unit));
}

std::string duration_text(double seconds) {
  constexpr double kLongest = 1e9;  // seconds; also takes what is no number
  if (!(seconds < kLongest)) return "very long";
  if (seconds < 9.95) return fmt::format("{:.1f} s", std::max(seconds, 0.0));
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace unstarve::cli
