#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "compare/change/change.h"
#include "compare/moved.h"
#include "compare/run/measures.h"
#include "compare/work_cost.h"
#include "examine/examination.h"

namespace unstarve::compare {

/// One measure of both sides.
struct MeasureRow {
  std::string_view id;
  std::string_view words;
  Unit unit = Unit::kRatio;
  bool more_is_worse = true;
  Reading<double> a;
  Reading<double> b;
  Reading<Change> change;
  Reading<double> noise_ratio;  // between runs of the same side; absent: each has one
};

/// A finding that one side has and the other has not.
struct FindingOf {
  std::string cause;
  std::string detail;
  double share = 0;
};

/// How the steps of one run went, block by block (run/step_blocks.h).
struct StepCurve {
  struct Point {
    double step = 0;     // of those in training, in the middle of the block
    double time_us = 0;  // of a step, or of a sample
    double waiting = 0;  // share of it
  };
  bool of_b = false;
  std::vector<Point> points;
};

/// Two sides, measure by measure, and what the difference comes from.
struct Comparison {
  std::string a;  // names
  std::string b;
  std::size_t runs_a = 1;
  std::size_t runs_b = 1;
  bool emulated = false;
  /// What `time` is of: a step, or, where the steps hold other numbers of samples, a sample.
  bool by_sample = false;
  std::vector<MeasureRow> measures;  // what neither side knows is left out
  std::vector<PartTime> parts;       // of that time, by how much they moved
  std::optional<Moved> moved;        // none: the time did not certainly change, or no part is known
  std::vector<StepCurve> curves;     // of each run, A's first
  std::vector<FindingOf> came;
  std::vector<FindingOf> went;
  std::vector<Difference> differences;
  std::string script_diff;       // empty: the same, or not kept
  std::optional<WorkCost> cost;  // none: nobody asked

  /// Null where neither side knows it.
  const MeasureRow* row(std::string_view id) const;
  /// The time of a step or a sample.
  const MeasureRow& time() const { return *row(by_sample ? "sample_time" : "step_time"); }
  /// Whether there is more than one run of a side, so that their noise is in the intervals.
  bool knows_noise() const { return runs_a + runs_b > 2; }
};

Comparison compare(const Side& a, const Side& b);

/// Reads what a user names: a run, a trace, an export; several joined by commas are runs of the
/// same thing. Of a folder of trials it is the job as it was, each time that it ran without a
/// change. Errors: one that cannot be read, or has too few steps.
Result<Side> read_side(const std::string& paths, const examine::ReadProgress& progress);

/// Of a folder of trials, the job with what was kept, as it was last proved. Errors: kNotFound
/// where nothing was kept.
Result<Side> read_kept(const std::string& folder, const examine::ReadProgress& progress);

}  // namespace unstarve::compare
