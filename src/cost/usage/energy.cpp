#include "cost/usage/energy.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/units.h"

namespace unstarve::cost {

namespace {

using trace::Interval;
using trace::SeriesPoint;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

/// Adds up what lies between each reading and the next one, as far as it lies within `when`.
class Sum {
 public:
  explicit Sum(const Interval& when) : when_(when) {}

  std::optional<Interval> part_of(const SeriesPoint& from, const SeriesPoint& to) const {
    const Interval part = {std::max(when_.start_ns, from.t_ns), std::min(when_.end_ns, to.t_ns)};
    return part.end_ns > part.start_ns ? std::optional(part) : std::nullopt;
  }
  void add(const Interval& part, double joules) {
    joules_ += joules;
    covered_ns_ += part.end_ns - part.start_ns;
  }
  Energy energy() const {
    if (covered_ns_ == 0) return {WhyAbsent::kNotObserved, 0};
    return {joules_, seconds(covered_ns_) / seconds(when_.end_ns - when_.start_ns)};
  }

 private:
  Interval when_;
  double joules_ = 0;
  std::int64_t covered_ns_ = 0;
};

/// The reason why there is no reading at all, where nothing is covered.
Energy with_reason(Energy energy, std::span<const SeriesPoint> readings) {
  const bool any = std::any_of(readings.begin(), readings.end(),
                               [](const SeriesPoint& point) { return point.value.has_value(); });
  if (!energy.joules && !any && !readings.empty()) {
    energy.joules = readings.back().value.why_absent();
  }
  return energy;
}

}  // namespace

Energy energy_by_counter(std::span<const SeriesPoint> joules, const Interval& when) {
  Sum sum(when);
  const SeriesPoint* last = nullptr;
  for (const SeriesPoint& point : joules) {
    if (!point.value) continue;  // it counts on while nobody reads it
    const SeriesPoint* const before = std::exchange(last, &point);
    if (before == nullptr || *point.value < *before->value) continue;
    if (const auto part = sum.part_of(*before, point)) {
      const double share =
          seconds(part->end_ns - part->start_ns) / seconds(point.t_ns - before->t_ns);
      sum.add(*part, (*point.value - *before->value) * share);
    }
  }
  return with_reason(sum.energy(), joules);
}

Energy energy_by_power(std::span<const SeriesPoint> watts, const Interval& when) {
  constexpr std::int64_t kMostApartNs = 5 * kSecondNs;
  Sum sum(when);
  const SeriesPoint* last = nullptr;
  for (const SeriesPoint& point : watts) {
    const SeriesPoint* const before = std::exchange(last, point.value ? &point : nullptr);
    if (before == nullptr || !point.value || point.t_ns - before->t_ns > kMostApartNs) continue;
    if (const auto part = sum.part_of(*before, point)) {
      const double slope = (*point.value - *before->value) / seconds(point.t_ns - before->t_ns);
      const std::int64_t middle_ns = part->start_ns + (part->end_ns - part->start_ns) / 2;
      const double mean_w = *before->value + slope * seconds(middle_ns - before->t_ns);
      sum.add(*part, mean_w * seconds(part->end_ns - part->start_ns));
    }
  }
  return with_reason(sum.energy(), watts);
}

}  // namespace unstarve::cost
