#include "tune/batch/batch_plan.h"

#include <algorithm>
#include <cmath>

namespace unstarve::tune {

namespace {

constexpr std::size_t kMostPoints = 14;
constexpr std::int64_t kMostTimes = 1024;  // the batch as it is
constexpr std::ptrdiff_t kNoBetterInARow = 2;
// Products of matrices want multiples of 8, at least (NVIDIA's matmul guide); below 16 that leaves
// nothing to choose from.
constexpr std::int64_t kAligned = 8;
constexpr double kWorthRefining = 1.1;

std::int64_t aligned_down(std::int64_t size) {
  return size >= 2 * kAligned ? size - size % kAligned : size;
}

constexpr double kProportional = 0.8;  // of the gain per sample that a larger batch could have

}  // namespace

BatchPlan::BatchPlan(const BatchPoint& start, std::int64_t most_memory_bytes)
    : start_(start.size), most_memory_bytes_(most_memory_bytes), points_{start} {}

void BatchPlan::add(const BatchPoint& point) {
  const auto at = std::lower_bound(points_.begin(), points_.end(), point,
                                   [](const auto& a, const auto& b) { return a.size < b.size; });
  points_.insert(at, point);
}

bool BatchPlan::is_known(std::int64_t size) const {
  return std::any_of(points_.begin(), points_.end(),
                     [size](const BatchPoint& point) { return point.size == size; });
}

std::optional<std::int64_t> BatchPlan::smallest_failed() const {
  for (const BatchPoint& point : points_) {
    if (!point.fits) return point.size;
  }
  return std::nullopt;
}

std::vector<BatchPoint> BatchPlan::by_speed() const {
  std::vector<BatchPoint> found;
  const std::int64_t failed = smallest_failed().value_or(INT64_MAX);
  for (const BatchPoint& point : points_) {
    if (point.fits && point.size < failed) found.push_back(point);
  }
  std::stable_sort(found.begin(), found.end(), [](const BatchPoint& a, const BatchPoint& b) {
    return a.per_sample_s < b.per_sample_s;
  });
  return found;
}

std::optional<std::int64_t> BatchPlan::largest_by_model() const {
  double count = 0, sizes = 0, bytes = 0, squares = 0, products = 0;
  for (const BatchPoint& point : points_) {
    if (!point.fits || point.memory_bytes <= 0) continue;
    const auto size = static_cast<double>(point.size);
    const auto memory = static_cast<double>(point.memory_bytes);
    ++count;
    sizes += size;
    bytes += memory;
    squares += size * size;
    products += size * memory;
  }
  const double spread = count * squares - sizes * sizes;
  if (most_memory_bytes_ <= 0 || count < 2 || spread <= 0) return std::nullopt;
  const double each = (count * products - sizes * bytes) / spread;
  const double fixed = (bytes - each * sizes) / count;
  if (each <= 0) return std::nullopt;
  const double most = (static_cast<double>(most_memory_bytes_) - fixed) / each;
  return static_cast<std::int64_t>(std::clamp(most, 0.0, 1e12));
}

/// Of what ran.
std::int64_t BatchPlan::largest_tried() const {
  std::int64_t top = 0;
  for (const BatchPoint& point : by_speed()) top = std::max(top, point.size);
  return top;
}

/// Of what should run.
std::int64_t BatchPlan::largest_fitting() const {
  const std::int64_t failed = smallest_failed().value_or(INT64_MAX);
  return std::min(largest_by_model().value_or(INT64_MAX), failed - 1);
}

/// Sizes larger than the best are no better.
bool BatchPlan::has_seen_enough() const {
  const std::vector<BatchPoint> fitting = by_speed();
  const auto larger = [&](const BatchPoint& point) { return point.size > fitting.front().size; };
  return std::count_if(fitting.begin(), fitting.end(), larger) >= kNoBetterInARow;
}

bool BatchPlan::is_limited_by_memory() const {
  return !by_speed().empty() && !has_seen_enough() && 2 * largest_tried() > largest_fitting();
}

/// A step takes hardly longer with a larger batch: the best is far from here.
bool BatchPlan::is_far_from_best() const {
  std::vector<BatchPoint> fitting = by_speed();
  std::sort(fitting.begin(), fitting.end(),
            [](const BatchPoint& a, const BatchPoint& b) { return a.size < b.size; });
  if (fitting.size() < 2) return false;
  const BatchPoint& last = fitting.back();
  const BatchPoint& before = fitting[fitting.size() - 2];
  const double grown = static_cast<double>(last.size) / static_cast<double>(before.size);
  return before.per_sample_s > kProportional * grown * last.per_sample_s;
}

/// Twice as many samples, as long as that helps, or four times where it helps that much; what
/// memory leaves where twice does not fit.
std::optional<std::int64_t> BatchPlan::larger() const {
  if (has_seen_enough()) return std::nullopt;
  const std::int64_t top = largest_tried();
  const std::int64_t fits = largest_fitting();
  const bool is_far = is_far_from_best() && 4 * top <= fits && 4 * top <= kMostTimes * start_;
  if (is_far) return 4 * top;
  if (2 * top <= fits) {
    return 2 * top <= kMostTimes * start_ ? std::optional(2 * top) : std::nullopt;
  }
  // A limit that a run disproved leaves the middle between what fitted and what did not.
  const std::int64_t failed = smallest_failed().value_or(INT64_MAX);
  const bool disproved = fits == failed - 1;
  const std::int64_t wanted = aligned_down(disproved ? top + (failed - top) / 2 : fits);
  if (static_cast<double>(wanted) < kWorthRefining * static_cast<double>(top)) return std::nullopt;
  return wanted;
}

/// A GPU works in waves, so that the best size may lie between those that double.
std::optional<std::int64_t> BatchPlan::beside_best() const {
  const std::vector<BatchPoint> fitting = by_speed();
  const std::int64_t best = fitting.front().size;
  const std::int64_t between = aligned_down(best + best / 2);
  const bool larger_known = std::any_of(points_.begin(), points_.end(), [&](const auto& point) {
    return point.size > best && point.size < 2 * best;
  });
  if (best > 1 && between > best && !larger_known && between <= largest_fitting()) return between;
  if (best == start_ && start_ > 1 && !is_known(start_ / 2)) return start_ / 2;
  return std::nullopt;
}

std::optional<std::int64_t> BatchPlan::next() const {
  if (points_.size() >= kMostPoints || by_speed().empty()) return std::nullopt;
  for (const std::optional<std::int64_t>& size : {larger(), beside_best()}) {
    if (size && !is_known(*size)) return size;
  }
  return std::nullopt;
}

}  // namespace unstarve::tune
