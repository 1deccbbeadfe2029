#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predict/speedup.h"
#include "tune/judging/parity.h"
#include "tune/levers/lever.h"
#include "tune/reason/reason.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What became of a lever.
enum class Outcome : std::uint8_t {
  kPending,        // nothing is decided
  kNotApplicable,  // the job, the machine or its PyTorch has no use for it
  kTooSmall,       // what it gains at most is worth no trial
  kNotMeasured,    // it did not run to its end, or nobody saw what had to be compared
  kSlower,
  kWithinNoise,  // no gain is certain
  kOtherWork,    // less or something else is computed in a step
  kOtherResults,
  kTooMuchMemory,
  kForMemory,        // it saves memory and costs time: tried with larger batches
  kFaster,           // by itself: what becomes of it beside others is not decided
  kNotBesideOthers,  // faster by itself, and not beside what is kept
  kReplaced,         // another of its group, or another size, is better
  kProposed,         // faster, and it changes the training: never accepted by us
  kKept,
};

/// "within_noise".
std::string_view to_string(Outcome outcome);

/// The trials that a speed-up is of, by their labels.
struct RunsCompared {
  std::string opening;  // without what is judged
  std::string with;
  std::string again;  // without it once more
};

/// What a lever gained on top of all that was kept then.
struct GainOnTop {
  predict::Speedup speedup;  // with the noise in its interval
  RunsCompared runs;
  std::vector<std::string> below;  // what was kept then, by ids; empty: it is over the job as it is
};

/// What is known of one lever.
struct LeverResult {
  Lever lever;
  bool tried = false;
  Outcome outcome = Outcome::kPending;
  // At most, by what a step's time goes to: all of what the lever eases is saved.
  std::optional<double> at_most;
  bool too_small = false;  // that is not worth a trial, unless a step gets much shorter
  std::optional<predict::Speedup> speedup;
  // With batches that are there already, where loading holds the job up and the lever gains
  // nothing.
  std::optional<predict::Speedup> speedup_when_fed;
  std::optional<GainOnTop> on_top;  // none: it was not tried so
  Parity parity = Parity::kNotNeeded;
  std::int64_t peak_memory_bytes = 0;  // 0: not known
  Latency latency;                     // of a job that infers
  double cold_s = 0;                   // from the start to the first step
  // Steps after which it has made up for what its start takes longer; 0: that is no time at all.
  double pays_off_steps = 0;
  Reason why;  // it came to that

  bool is_pending() const { return outcome == Outcome::kPending; }
  bool is_kept() const { return outcome == Outcome::kKept; }
  bool is_proposed() const { return outcome == Outcome::kProposed; }
  void settle(Outcome as, Reason reason) {
    outcome = as;
    why = std::move(reason);
  }
  /// The same, where there is a reason; says whether there was.
  bool settle_if(Outcome as, Reason reason) {
    if (!reason) return false;
    settle(as, std::move(reason));
    return true;
  }
};

/// What the job's own runs told, with which those with levers are compared.
struct OwnResults {
  bool were_compared = false;            // nothing was, and the rest is not known
  Reason why_not;                        // they tell nothing
  bool are_repeatable = false;           // two runs of one seed have the same losses
  std::optional<double> gradient_error;  // of the first gradient, by FP64's; none: not known
};

/// What is kept, as a change of the script that the command runs.
struct ScriptPatch {
  std::string script;             // as the command names it
  std::string diff;               // empty: nothing of it is certain enough to be written
  bool from_root = false;         // of paths from the root of the file system on
  std::vector<std::string> left;  // ids of what is kept and stays in words
  std::string path = {};          // whole
  std::string text = {};          // the script with the change
  // What the job gains with the change, and the command below, and nothing else: the last trials.
  std::optional<predict::Speedup> gain = {};
  RunsCompared runs = {};
  Reason why_no_gain = {};  // it was not measured, or it is no change that runs
};

/// The job's command with what of that stands in it, or in its environment.
struct KeptCommand {
  std::vector<std::pair<std::string, std::string>> environment;  // names and values
  std::vector<std::string> words;  // empty: nothing that is kept stands there
};

/// A job that gains as much when every batch is there already is held up by its loader.
inline constexpr double kHeldUpByLoader = 1.1;

struct TuneResult {
  std::vector<LeverResult> levers;
  TrialResult baseline;            // its first run; its shares are the means of `shares`
  std::vector<StepShares> shares;  // of a step as it is, in each run that looked
  std::vector<double> as_it_is_s;  // mean steps of the runs as it is, in their order
  double noise_ratio = 0;
  std::int64_t trials = 0;
  std::string unfinished;                    // why the search ended early; empty: it did not
  std::vector<std::string> kept;             // ids
  std::string kept_run;                      // the last one with just these; empty: there is none
  std::optional<predict::Speedup> best;      // with all that was kept; none: nothing was
  std::optional<predict::Speedup> when_fed;  // the job as it is, if loading took no time
  OwnResults own_results;                    // of the runs that parity rests on
  ScriptPatch patch;
  KeptCommand command;
};

/// Of a trial that was not measured.
Reason ending_reason(const TrialResult& result);

/// The median of the runs as it is: the first one may have found another machine.
double step_as_it_is_s(const TuneResult& result);

}  // namespace unstarve::tune
