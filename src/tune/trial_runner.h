#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/result/tune_result.h"
#include "tune/search.h"
#include "tune/trials/trials.h"

namespace unstarve::tune {

/// Runs with something, and runs without it, that are compared; as the first of each was asked for.
struct Comparison {
  TrialRequest with;
  TrialRequest without;
  bool per_sample = false;
  // How many times as fast it has to be; none: so much that it is worth a change and no chance.
  std::optional<double> needed = {};
};

/// What came of it.
struct Compared {
  predict::Speedup speedup;
  predict::Speedup shown;  // the same with the noise of the runs without it in its interval
  bool is_faster = false;  // than what was needed, all of the interval
  RunsCompared runs;
  Reason why_not;  // the second run with it was not measured; none: it was, or there was none
};

/// The same, with the runs that a next comparison may take up.
struct ComparedAnew {
  Compared compared;
  TrialResult with;     // the faster one
  TrialResult without;  // the last one
};

/// Makes a search's trials: gives each what follows from the job as it is (how long its first step
/// may take, when it is hopeless, how many losses), counts them, and keeps the noise.
class TrialRunner {
 public:
  /// All outlive this. `result`: its baseline is what follows is taken from.
  TrialRunner(Trials& trials, const SearchOptions& options, SearchListener& listener,
              TuneResult& result)
      : trials_(trials), options_(options), listener_(listener), result_(result) {}

  Result<TrialResult> make(TrialRequest request);
  Result<TrialResult> make(const std::string& label, const std::vector<std::string>& levers,
                           bool until_known);
  /// A run that has to be measured: the job without a lever, or with what is kept. Where it was
  /// not, it is made once more. Errors: kJobFailed where that was not either.
  Result<TrialResult> make_measured(TrialRequest request);
  Result<TrialResult> make_measured(const std::string& label,
                                    const std::vector<std::string>& levers, bool until_known);
  /// The job's first run: the noise begins with it.
  void begin_with(const TrialResult& first) { result_.as_it_is_s = {first.mean_step_s}; }
  /// Whether these two differ by so much that a third run can change nothing.
  bool is_beyond_doubt(const TrialResult& first, const TrialResult& other) const;

  /// How much faster `with` is, which ran between `before` and `again`, both without it. Where it
  /// may be faster than what is needed and that is not certain, one more of each is run, and the
  /// fastest of each are compared (a third run of each finds no more). `with` becomes the faster
  /// one, `again` the last one. Of two runs, the noise is that of the runs without it: what makes
  /// those of the job as it is differ may be gone with what is kept. One run is believed only where
  /// it gains more than that as well.
  Result<Compared> compare(const Comparison& comparison, const TrialResult& before,
                           TrialResult& with, TrialResult& again);

  /// The same by new runs alone, of which the first is one without it, called `label`.
  Result<ComparedAnew> compare_anew(const Comparison& comparison, const std::string& label);
  /// The same behind a run without it that was made already.
  Result<ComparedAnew> compare_behind(const Comparison& comparison, const TrialResult& before);

  TrialRequest request_for(const std::string& label, const std::vector<std::string>& levers,
                           bool until_known) const;

 private:
  int parity_steps() const;
  Result<Compared> compare_once_more_if_in_doubt(const Comparison& comparison,
                                                 const TrialResult& before, TrialResult& with,
                                                 TrialResult& again);
  void note_speed(const TrialRequest& request, const TrialResult& made);
  /// By which runs with these levers differ; none: too few were made.
  std::optional<double> noise_with(const std::vector<std::string>& levers) const;

  Trials& trials_;
  const SearchOptions& options_;
  SearchListener& listener_;
  TuneResult& result_;
  std::map<std::set<std::string>, std::vector<double>> mean_steps_s_;  // by the runs' levers
};

}  // namespace unstarve::tune
