#include "observe/import/trace_clock.h"

#include <algorithm>

namespace unstarve::observe {

namespace {

constexpr std::int64_t kRawPerUnit = 1000;
/// Longest event, in units: 15 years in microseconds, 5 days in nanoseconds.
constexpr std::int64_t kLongestDuration = 500'000'000'000'000;
/// Times outside of these are no times; with them, no sum below overflows.
constexpr std::int64_t kEarliestTime = -kLongestDuration;
constexpr std::int64_t kLatestTime = 9'000'000'000'000'000'000;
/// From this (the year 2223) on, a time cannot be in microseconds and fit 64 bits as nanoseconds.
constexpr std::int64_t kMostMicroseconds = 8'000'000'000'000'000;
/// 2001 and 2065 in microseconds since 1970.
constexpr std::int64_t kFirstDateInMicroseconds = 1'000'000'000'000'000;
constexpr std::int64_t kLastDateInMicroseconds = 3'000'000'000'000'000;
/// No kernel or copy takes less than about a microsecond. When the shortest of many takes this many
/// units, the unit is nanoseconds.
constexpr std::int64_t kShortestOperationNs = 500;
constexpr std::int64_t kManyOperations = 16;
constexpr std::int64_t kShortestCallNs = 50;

}  // namespace

std::optional<std::int64_t> TraceClock::raw_time(const Decimal& time) {
  if (time.whole < kEarliestTime || time.whole > kLatestTime) return std::nullopt;
  if (!origin_) origin_ = time.whole;
  const bool is_large = time.whole >= kMostMicroseconds;
  if (is_large != (*origin_ >= kMostMicroseconds)) return std::nullopt;
  const std::int64_t units = time.whole - *origin_;
  if (units > kMostMicroseconds || units < -kMostMicroseconds) return std::nullopt;
  fractions_seen_ = fractions_seen_ || time.has_fraction;
  return units * kRawPerUnit + time.thousandths;
}

std::optional<std::int64_t> TraceClock::raw_duration(const Decimal& duration) {
  if (duration.whole < 0 || duration.thousandths < 0 || duration.whole > kLongestDuration) {
    return std::nullopt;
  }
  fractions_seen_ = fractions_seen_ || duration.has_fraction;
  return duration.whole * kRawPerUnit + duration.thousandths;
}

void TraceClock::note_operation(std::int64_t raw_duration) {
  if (raw_duration == 0) return;  // rounded away, says nothing
  shortest_operation_ =
      operations_ == 0 ? raw_duration : std::min(shortest_operation_, raw_duration);
  ++operations_;
}

void TraceClock::note_call(std::int64_t raw_duration) {
  // Of nanoseconds no call takes so few.
  if (raw_duration > 0 && raw_duration < kShortestCallNs * kRawPerUnit) has_short_call_ = true;
}

void TraceClock::note_copy(std::int64_t bytes, double gigabytes_per_s, std::int64_t raw_duration) {
  if (bytes <= 0 || !(gigabytes_per_s > 0) || raw_duration <= 0) return;
  const double expected_ns = static_cast<double>(bytes) / gigabytes_per_s;
  const double units = static_cast<double>(raw_duration) / kRawPerUnit;
  // Either about 1 or about 1000; anything else is no evidence.
  const double ns_per_unit = expected_ns / units;
  if (ns_per_unit > 0.5 && ns_per_unit < 2) ++copies_in_ns_;
  if (ns_per_unit > 500 && ns_per_unit < 2000) ++copies_in_us_;
}

bool TraceClock::is_in_nanoseconds() const {
  const std::int64_t date = origin_.value_or(0);
  if (date >= kMostMicroseconds) return true;
  if (copies_in_ns_ != copies_in_us_) return copies_in_ns_ > copies_in_us_;
  if (fractions_seen_ || has_short_call_) return false;
  if (date >= kFirstDateInMicroseconds && date <= kLastDateInMicroseconds) return false;
  return operations_ >= kManyOperations &&
         shortest_operation_ >= kShortestOperationNs * kRawPerUnit;
}

std::int64_t TraceClock::nanoseconds(std::int64_t raw) const {
  const std::int64_t origin = origin_.value_or(0);
  return is_in_nanoseconds() ? origin + raw / kRawPerUnit : origin * kRawPerUnit + raw;
}

}  // namespace unstarve::observe
