#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/state/curve.h"
#include "trace/run_reader.h"

namespace unstarve::serve {

/// Two curves of each process that trains, from its steps: how long each took, and the part of it
/// that its data loaders took. Of a job of several ranks they lie over each other in one chart.
class StepCurves {
 public:
  /// Reads on where it ended last. Errors: the run cannot be read.
  Status update(const trace::RunReader& run);
  const std::vector<Curve>& all() const { return curves_; }

 private:
  /// Of one process.
  struct Training {
    std::size_t step_curve = 0;         // in `curves_`; that of its waits follows
    std::deque<trace::Interval> waits;  // that no step has counted whole
  };
  Status read_waits(const trace::RunReader& run);
  Status read_steps(const trace::RunReader& run);
  void add(const trace::StepRow& step, std::int64_t started_ns, Training& training);
  Training& training_of(std::int64_t pid, const trace::RunReader& run);

  std::vector<Curve> curves_;
  std::map<std::int64_t, Training> trainings_;  // by process
  std::int64_t last_wait_ = 0;
  std::int64_t last_step_ = 0;
};

}  // namespace unstarve::serve
