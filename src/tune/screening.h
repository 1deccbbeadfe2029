#pragma once

#include <vector>

#include "base/result.h"
#include "tune/results_check.h"
#include "tune/trial_runner.h"
#include "tune/when_fed.h"

namespace unstarve::tune {

/// A lever that was faster by itself.
struct Winner {
  std::size_t index = 0;  // of TuneResult::levers
  double speedup = 1;
  TrialResult run;
};

/// Tries one lever at a time, with a run of the job as it is behind each.
class Screening {
 public:
  /// All outlive this. `opening`: the last run of the job as it is.
  Screening(TrialRunner& runner, WhenFed& fed, ResultsCheck& results_check,
            SearchListener& listener, TuneResult& result, TrialResult opening)
      : runner_(runner),
        fed_(fed),
        results_check_(results_check),
        listener_(listener),
        result_(result),
        opening_(std::move(opening)) {}

  /// Fills in what became of each lever. Errors: those of the trials; what was found until then
  /// stays.
  Status run();
  /// The fastest first, once run() has ended well.
  const std::vector<Winner>& winners() const { return winners_; }

 private:
  bool is_variant_of_slower(const LeverResult& entry) const;
  Status screen_one(std::size_t index);
  TrialRequest request_with(const LeverResult& entry) const;
  TrialRequest request_without(const LeverResult& entry) const;
  Status judge(LeverResult& entry, const TrialResult& before, TrialResult& with,
               TrialResult& again);
  Status judge_speed(LeverResult& entry, const TrialResult& with);

  TrialRunner& runner_;
  WhenFed& fed_;
  ResultsCheck& results_check_;
  SearchListener& listener_;
  TuneResult& result_;
  TrialResult opening_;
  bool opening_is_old_ = false;  // a run without that one behind it was judged by it
  std::vector<Winner> winners_;
};

}  // namespace unstarve::tune
