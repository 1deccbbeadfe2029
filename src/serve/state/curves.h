#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/model/report_model.h"
#include "trace/run_reader.h"

namespace unstarve::serve {

/// One metric of a run, of one subject.
struct Curve {
  trace::MetricRow metric;
  report::Series series;  // in seconds since the run began; its unit is the metric's
};

/// Every sample of a run that its store holds, read on where it ended last. A store holds about a
/// million rows, however long its run is (docs/decisions/0015-long-runs.md), which are 16 MB here.
class Curves {
 public:
  /// Errors: the run cannot be read.
  Status update(const std::string& run_dir);

  const std::vector<Curve>& all() const { return curves_; }
  /// Those of a metric; of one subject alone where `subject` is not empty.
  std::vector<const Curve*> find(std::string_view metric, std::string_view subject) const;
  std::size_t samples() const { return samples_; }

 private:
  Status read_metrics(const trace::RunReader& run);
  Status read_samples(const trace::RunReader& run);

  std::vector<Curve> curves_;
  std::map<std::int64_t, std::size_t> by_id_;  // the metric's number, in `curves_`
  std::int64_t last_row_ = 0;
  std::size_t samples_ = 0;
};

}  // namespace unstarve::serve
