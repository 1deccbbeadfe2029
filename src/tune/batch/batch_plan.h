#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace unstarve::tune {

/// What was measured of one size of batch.
struct BatchPoint {
  std::int64_t size = 0;
  bool fits = true;               // it ran, and left memory to spare
  double per_sample_s = 0;        // where it fits
  std::int64_t memory_bytes = 0;  // 0: not known
};

/// Which size of batch to try next, and which was the fastest by sample.
class BatchPlan {
 public:
  /// `start`: the job as it is. `most_memory_bytes`: what a size may take; 0: nobody knows.
  BatchPlan(const BatchPoint& start, std::int64_t most_memory_bytes);

  /// Of a size that has not been measured yet; none: enough is known.
  std::optional<std::int64_t> next() const;
  void add(const BatchPoint& point);

  /// Those that fit, the fastest by sample first.
  std::vector<BatchPoint> by_speed() const;
  /// 0: none ran.
  std::int64_t largest_tried() const;
  /// Whether larger sizes were left out for what they take, and not for being no better.
  bool is_limited_by_memory() const;
  /// The largest that should fit: memory as a straight line through what was measured. None where
  /// it is not known, or does not grow with the batch.
  std::optional<std::int64_t> largest_by_model() const;

 private:
  bool is_known(std::int64_t size) const;
  std::optional<std::int64_t> smallest_failed() const;
  std::int64_t largest_fitting() const;
  bool has_seen_enough() const;
  bool is_far_from_best() const;
  std::optional<std::int64_t> larger() const;
  std::optional<std::int64_t> beside_best() const;

  std::int64_t start_;
  std::int64_t most_memory_bytes_;
  std::vector<BatchPoint> points_;  // by size
};

}  // namespace unstarve::tune
