#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tune/search.h"
#include "tune/trials/trials.h"
#include "tune/tune_result.h"

namespace unstarve::tune {

/// Makes a search's trials: gives each what follows from the job as it is (how long its first step
/// may take, when it is hopeless, how many losses), counts them, and keeps the noise.
class Runs {
 public:
  /// All outlive this. `result`: its baseline is what follows is taken from.
  Runs(Trials& trials, const SearchOptions& options, SearchListener& listener, TuneResult& result)
      : trials_(trials), options_(options), listener_(listener), result_(result) {}

  Result<TrialResult> make(TrialRequest request);
  Result<TrialResult> make(const std::string& label, const std::vector<std::string>& levers,
                           bool until_known);
  /// A run that has to be measured: the job without a lever, or with what is kept. Errors:
  /// kJobFailed where it was not.
  Result<TrialResult> make_measured(const std::string& label,
                                    const std::vector<std::string>& levers, bool until_known);
  /// The job's first run: the noise begins with it.
  void begin_with(const TrialResult& first) { as_it_is_s_ = {first.mean_step_s}; }
  double noise() const { return result_.noise_ratio; }

 private:
  int parity_steps() const;

  Trials& trials_;
  const SearchOptions& options_;
  SearchListener& listener_;
  TuneResult& result_;
  std::vector<double> as_it_is_s_;  // mean steps of the job's runs as it is, in their order
};

}  // namespace unstarve::tune
