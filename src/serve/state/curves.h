#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/state/curve.h"
#include "serve/state/step_curves.h"
#include "trace/run_reader.h"

namespace unstarve::serve {

/// Every sample of a run that its store holds, and what its steps tell, read on where it ended
/// last. A store holds about a million rows, however long its run is
/// (docs/decisions/0015-long-runs.md), which are 16 MB here.
class Curves {
 public:
  /// Errors: the run cannot be read.
  Status update(const std::string& run_dir);

  /// Those in which there is anything.
  std::vector<const Curve*> all() const;
  /// Those of a metric; of one subject alone where `subject` is not empty.
  std::vector<const Curve*> find(std::string_view metric, std::string_view subject) const;
  /// When the run's training began, on the clock of its curves.
  const Reading<double>& training_from_s() const { return training_from_s_; }

 private:
  Status read_metrics(const trace::RunReader& run);
  Status read_samples(const trace::RunReader& run);

  std::vector<Curve> curves_;
  StepCurves steps_;
  Reading<double> training_from_s_ = {};
  std::map<std::int64_t, std::size_t> by_id_;  // the metric's number, in `curves_`
  std::int64_t last_row_ = 0;
  std::size_t samples_ = 0;
};

}  // namespace unstarve::serve
