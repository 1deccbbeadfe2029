#include "roofline/roofs/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace unstarve::roofline {

namespace {

constexpr std::int64_t kPollNs = 100'000'000;
// Clocks are a little off their nominal rate, and so is a specification that was rounded.
constexpr double kSpecTolerance = 1.02;

}  // namespace

void Session::sleep_ns(std::int64_t duration_ns) {
  const std::int64_t end_ns = clock_.now_ns() + duration_ns;
  while (!stopped()) {
    const std::int64_t now_ns = clock_.now_ns();
    if (now_ns >= end_ns) return;
    clock_.sleep_until_ns(std::min(end_ns, now_ns + kPollNs));
  }
}

void Session::add(Roof roof) {
  if (!std::isfinite(roof.value) || roof.value <= 0) {
    lacks(roof.name, "the time was too short to measure it: give more by --seconds");
    return;
  }
  roof.measured_s = wall_time_ns() / kSecondNs;
  result_.roofs.push_back(std::move(roof));
}

void Session::add_below(Roof roof, double spec, const std::string& spec_source) {
  if (roof.value > spec * kSpecTolerance) {
    lacks(roof.name,
          fmt::format("{:.4g} {} was measured, which is more than it can be ({:.4g}, {}): refused "
                      "as wrong",
                      roof.value, roof.unit, spec, spec_source));
    return;
  }
  roof.conditions.emplace_back("spec", spec);
  roof.conditions.emplace_back("spec_source", spec_source);
  add(std::move(roof));
}

void Session::add_condition(std::size_t first, const std::string& name, const Condition& value) {
  for (std::size_t i = first; i < result_.roofs.size(); ++i) {
    result_.roofs[i].conditions.emplace_back(name, value);
  }
}

void Session::lacks(std::string name, std::string reason) {
  result_.absent.push_back({std::move(name), std::move(reason)});
}

void Session::note(std::string text) {
  if (std::count(notes_.begin(), notes_.end(), text) == 0) notes_.push_back(std::move(text));
}

}  // namespace unstarve::roofline
