#include "diagnose/rules/wording.h"

#include <array>
#include <string_view>

namespace unstarve::diagnose {

namespace {

struct Unit {
  double size;
  std::string_view name;
};

template <std::size_t N>
std::string in_units(double value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value < unit.size) continue;
    const double scaled = value / unit.size;
    const int digits = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
    return fmt::format("{:.{}f} {}", scaled, digits, unit.name);
  }
  return fmt::format("{:.0f} {}", value, units.back().name);
}

}  // namespace

std::string percent(double ratio) {
  const double value = ratio * 100;
  return fmt::format("{:.{}f} %", value, value < 9.95 ? 1 : 0);
}

std::string duration(double ns) {
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  return in_units(ns, kUnits);
}

std::string bytes(double count) {
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  return in_units(count, kUnits);
}

std::string at(const std::string& place) { return place.empty() ? "" : " at " + place; }

}  // namespace unstarve::diagnose
