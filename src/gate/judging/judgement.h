#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/reading.h"
#include "compare/limits.h"

namespace unstarve::gate {

/// The values of one run, by the measure's id; those that it has.
using RunValues = std::map<std::string, double>;

/// Error rates, and what is looked at.
struct JudgingOptions {
  double false_alarm_rate = 0.05;  // of a gate of the same against the same
  double missed_rate = 0.05;       // of a measure that changed by its limit and is said to hold
  int runs_max = 12;               // a side
  int runs_min = 3;                // a side, before anything is decided
  bool paired = true;              // the i-th run of each side ran beside each other
  std::vector<compare::Limit> limits = {};  // none: the usual measures
};

enum class MeasureState {
  kRegressed,  // changed for the worse, certainly
  kHolds,      // certainly not by its limit
  kTraded,     // changed for the worse, and the step certainly takes less time: a choice
  kOpen,       // neither by now
  kAbstains,   // it varies too much for the runs that there may be; it decides nothing
};

struct MeasureJudgement {
  std::string id;
  std::string limit;           // in words: "5 %", "3 points", or as the user wrote it
  bool asked = false;          // by the user: then it never abstains
  std::vector<double> a_runs;  // of each run, in their order
  std::vector<double> b_runs;
  double a = 0;  // trimmed means (student.h)
  double b = 0;
  double change = 0;      // of the trimmed mean, to the worse: a ratio, or a difference of shares
  double noise = 0;       // standard deviation of a pair's change, or of one run
  double detectable = 0;  // the least change that is seen in 4 of 5 gates with all runs
  // How likely runs like these are (p-values)...
  double p_worse = 1;   // where it did not change, or by its limit where one was asked for
  double p_fine = 1;    // where it changed by its limit
  double p_better = 1;  // where it changed for the better by no more than its tolerance
  MeasureState state = MeasureState::kOpen;
};

enum class Decision { kHolds, kRegressed, kUndecided };

struct Judgement {
  Decision decision = Decision::kUndecided;
  bool is_final = false;  // more runs would change nothing
  std::vector<MeasureJudgement> measures;
  std::vector<std::string> absent;  // measures that were asked for and that a side does not say
};

/// What the runs so far say. `spent`: there will be no more of them.
Judgement judge(const std::vector<RunValues>& a, const std::vector<RunValues>& b,
                const JudgingOptions& options, bool spent);

/// "holds", "regressed", "undecided".
std::string_view to_string(Decision decision);
/// "regressed", "holds", "traded", "open", "abstains".
std::string_view to_string(MeasureState state);

}  // namespace unstarve::gate
