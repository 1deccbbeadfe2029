#include "observe/inside/cupti/clock_match.h"

#include <algorithm>
#include <cmath>

namespace unstarve::recording {

namespace {

// Below this two readings say nothing of how fast a clock ticks.
constexpr std::int64_t kBaselineNs = 1'000'000;

double difference(std::uint64_t later, std::uint64_t earlier) {
  return later >= earlier ? static_cast<double>(later - earlier)
                          : -static_cast<double>(earlier - later);
}

}  // namespace

void ClockMatch::add(const Reading* readings, std::size_t count) {
  const Reading& tightest =
      *std::min_element(readings, readings + count, [](const Reading& left, const Reading& right) {
        return left.after_ns - left.before_ns < right.after_ns - right.before_ns;
      });
  const std::int64_t half_ns = (tightest.after_ns - tightest.before_ns) / 2;
  Point point{tightest.before_ns + half_ns, tightest.theirs, half_ns + 1};
  if (points_.empty()) error_ns_ = 0;
  // A clock that was set back: what was before cannot be told from what comes now.
  if (!points_.empty() && point.theirs <= points_.back().theirs) {
    error_ns_ = std::max(error_ns_, point.ours - points_.back().ours);
    points_.clear();
  }
  if (points_.size() >= 2) {
    const auto expected = static_cast<std::int64_t>(to_ours(point.theirs));
    point.error_ns = std::max(point.error_ns, std::abs(expected - point.ours));
  }
  error_ns_ = std::max(error_ns_, point.error_ns);
  points_.push_back(point);
  if (points_.size() > kPointsMax) points_.pop_front();
}

std::uint64_t ClockMatch::to_ours(std::uint64_t theirs) const {
  if (theirs == 0 || points_.empty()) return 0;
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), theirs,
                       [](std::uint64_t time, const Point& point) { return time < point.theirs; });
  // Outside, the line through all of them goes on.
  const bool inside = after != points_.begin() && after != points_.end();
  const Point& left = inside ? *(after - 1) : points_.front();
  const Point& right = inside ? *after : points_.back();
  const Point& nearest = inside || after == points_.begin() ? left : right;
  double ns_per_tick = 1;
  if (inside || right.ours - left.ours >= kBaselineNs) {
    ns_per_tick =
        static_cast<double>(right.ours - left.ours) / difference(right.theirs, left.theirs);
  }
  const std::int64_t ns =
      nearest.ours + std::llround(difference(theirs, nearest.theirs) * ns_per_tick);
  return ns < 1 ? 1 : static_cast<std::uint64_t>(ns);
}

}  // namespace unstarve::recording
