#include "observe/inside/cupti/window_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/units.h"

namespace unstarve::recording {

namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kMsMax = 3'600'000;
constexpr std::size_t kShownMax = 40;
constexpr int kEvenPeriods = 60;
constexpr std::int64_t kStepsInWindow = 3;
// A window of 16 s in each 160: a report shows something new every few minutes.
constexpr std::int64_t kGrowthMax = 16;

std::optional<std::int64_t> milliseconds(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 1 || value > kMsMax) return std::nullopt;
  return value;
}

/// Of an environment that may hold anything: what can be shown.
std::string shown(std::string_view text) {
  std::string out(text.substr(0, kShownMax));
  for (char& letter : out) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return out;
}

}  // namespace

WindowPlan read_window_plan(const char* variable) {
  WindowPlan plan;
  const std::string_view text = variable != nullptr ? variable : "";
  if (text.empty()) return plan;
  if (text == "off") {
    plan.off = true;
    return plan;
  }
  if (text == "always") {
    plan.always = true;
    return plan;
  }
  const std::size_t slash = text.find('/');
  const auto on = milliseconds(text.substr(0, slash));
  const auto period =
      slash != std::string_view::npos ? milliseconds(text.substr(slash + 1)) : std::nullopt;
  if (!on || !period || *on > *period) {
    plan.ignored =
        fmt::format("UNSTARVE_CUPTI={} is none of always, off and ON_MS/PERIOD_MS", shown(text));
    return plan;
  }
  plan.first_ns = plan.window_ns = *on * kNsPerMs;
  plan.period_ns = *period * kNsPerMs;
  plan.thins_out = plan.follows_steps = false;
  return plan;
}

std::string describe(const WindowPlan& plan) {
  if (plan.off) return "off";
  if (plan.always || plan.window_ns >= plan.period_ns) return "all the time";
  const double period_s = static_cast<double>(plan.period_ns) / kNsPerS;
  const double first_s = static_cast<double>(plan.first_ns) / kNsPerS;
  std::string text = fmt::format("the first {:g} s", first_s);
  if (plan.follows_steps) text += fmt::format(" and the first {:g} s of steps", first_s);
  text += fmt::format(", then {:g} s in each {:g} s", static_cast<double>(plan.window_ns) / kNsPerS,
                      period_s);
  if (plan.thins_out) text += fmt::format(", after {:g} s more rarely", kEvenPeriods * period_s);
  return text;
}

void WindowTimer::activity_began(std::int64_t start_ns) {
  if (!began_ns_) began_ns_ = start_ns;
}

void WindowTimer::steps_began(std::int64_t end_ns) {
  if (plan_.follows_steps && !steps_began_ns_) steps_began_ns_ = end_ns;
}

void WindowTimer::step_takes(std::int64_t step_ns) {
  if (!plan_.follows_steps) return;
  while (growth_ < kGrowthMax && step_ns > growth_ * plan_.window_ns / kStepsInWindow) {
    growth_ *= 2;
  }
}

WindowTimer::Place WindowTimer::place_at(std::int64_t now_ns) const {
  if (plan_.off) return {.open = false, .until_ns = {}};
  if (plan_.always || plan_.window_ns >= plan_.period_ns || !began_ns_) return {};
  const std::int64_t window = growth_ * plan_.window_ns;
  std::int64_t first_end = *began_ns_ + plan_.first_ns;
  if (steps_began_ns_) {
    first_end = std::max(first_end, *steps_began_ns_ + std::max(plan_.first_ns, window));
  }
  if (now_ns < first_end) return {.open = true, .until_ns = first_end};
  std::int64_t from = first_end;
  std::int64_t period = growth_ * plan_.period_ns;
  std::int64_t end = first_end + kEvenPeriods * plan_.period_ns;
  while (plan_.thins_out && now_ns >= end) {
    from = end;
    end += end - first_end;
    period *= 2;
  }
  // A period is the time without and then the window.
  const std::int64_t begun = now_ns - (now_ns - from) % period;
  const std::int64_t opens = begun + period - window;
  if (now_ns < opens) return {.open = false, .until_ns = opens};
  return {.open = true, .until_ns = begun + period};
}

bool WindowTimer::wants_window(std::int64_t now_ns) const { return place_at(now_ns).open; }

std::optional<std::int64_t> WindowTimer::next_change_ns(std::int64_t now_ns) const {
  return place_at(now_ns).until_ns;
}

}  // namespace unstarve::recording
