#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/run_writer.h"

namespace unstarve::trace::testing {

/// A training whose run is written as `unstarve run` would write it, without the time that it
/// takes: one GPU, a loader with 4 workers that is too slow, an evaluation now and then, a pass
/// that is slower than the others, looks at stacks, readings ten times a second.
struct LongJobShape {
  double hours = 1;
  std::int64_t step_ns = 45'000'000;  // about; a quarter of it waits for the loader
  int kernels = 160;                  // of a step
  std::int64_t steps_per_pass = 2000;
  /// In ns: the GPU is recorded for so long out of each period; 0: not at all.
  std::int64_t window_ns = 1'000'000'000;
  std::int64_t first_window_ns = 10'000'000'000;
  std::int64_t window_period_ns = 10'000'000'000;
};

/// What was written, counted on the way.
struct LongJobTotals {
  std::int64_t steps = 0;
  std::int64_t step_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t samples = 0;  // of data
  std::int64_t slowest_commit_us = 0;
};

class LongJob {
 public:
  LongJob(RunWriter& writer, const LongJobShape& shape);

  /// Writes the whole job, with a commit for each second. Stops at the first that fails.
  Status write();
  const LongJobTotals& totals() const { return totals_; }
  std::int64_t now_ns() const { return now_ns_; }

 private:
  void begin();
  void begin_pass();
  void step();
  void evaluate();
  void wait(std::int64_t loader, std::int64_t ns, std::int64_t samples);
  void compute(std::int64_t ns);
  void sample_until_now();
  void sample();
  void look();
  bool in_window();
  double random();

  RunWriter& writer_;
  LongJobShape shape_;
  LongJobTotals totals_;
  std::int64_t now_ns_;
  std::int64_t next_sample_ns_;
  std::int64_t next_look_ns_;
  std::int64_t next_commit_ns_;
  std::int64_t window_number_ = 0;
  std::int64_t window_opens_ns_;
  std::int64_t window_closes_ns_;
  std::int64_t ticks_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint64_t state_ = 1;
  std::vector<std::int64_t> often_;   // metrics that are read ten times a second
  std::vector<std::int64_t> seldom_;  // once a second
  std::array<std::int64_t, 4> fetched_until_ns_ = {};
};

}  // namespace unstarve::trace::testing
