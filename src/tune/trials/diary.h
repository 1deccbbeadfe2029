#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/timeline/interval.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What the hook wrote of a trial in RUN/tune.json (docs/formats/tune.md).
struct Diary {
  bool found = false;
  std::set<std::string> applied;
  std::map<std::string, std::string> refused;
  std::int64_t steps = 0;
  std::string error;             // the exception that ended the process; empty: none
  bool loss_not_finite = false;  // of those recorded, or the last one
  bool never_stopped_compiling = false;
  std::int64_t last_compiling_step = 0;  // from 1; 0: torch.compile made no graph
  /// Behind the first step: from the end of the step before to the end of one in which it made one.
  std::vector<trace::Interval> compiling;
  /// Between two waits for the GPU: steps, and seconds for each of them. None on a CPU.
  struct Window {
    double steps = 0;
    double step_s = 0;
  };
  std::vector<Window> windows;
  /// Device, threads, survey, losses, memory.
  TrialResult facts;
};

/// Reads hostile bytes: what does not fit is absent.
Diary parse_diary(std::string_view text);

/// How a process ended, from outside.
struct ProcessEnd {
  int exit_code = 0;
  std::optional<int> signal;
  bool ended_by_us = false;
  bool timed_out = false;
  std::string last_output;  // the end of what it printed
};

/// Tells apart how a trial with these levers of the hook ended.
struct Classified {
  Ending ending = Ending::kMeasured;
  std::string why;
};
Classified classify(const ProcessEnd& end, const Diary& diary,
                    const std::vector<std::string>& wanted);

}  // namespace unstarve::tune
