#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/outside/live_view.h"
#include "trial/emulation/emulation.h"
#include "trial/examination.h"
#include "trial/installation.h"
#include "trial/verification.h"

namespace unstarve::trial {

/// One run of the job with one remedy applied, or none.
struct Trial {
  std::string label;  // "before", or the remedy's id
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string run_dir;
  Emulation* emulation = nullptr;     // as ObservedJobOptions::emulation
  double stop_after_s = 0;            // after the first step; 0: runs to its end
  std::int64_t stop_after_steps = 0;  // and no more steps than this; 0: any number
  double first_step_within_s = 0;     // else it is stopped; 0: it may take any time
};

/// Told what a series of trials does, by whoever runs one; called from one thread.
class TrialListener {
 public:
  virtual ~TrialListener() = default;
  /// Every trial begins with it, also one that then cannot be made. `what`: in words.
  virtual void begins(const std::string& /*label*/, const std::string& /*what*/) {}
  /// About four times a second while a trial runs.
  virtual void watches(const Trial& /*trial*/, const observe::LiveView& /*now*/) {}
  /// A trial's job has ended.
  virtual void ended(const Trial& /*trial*/) {}
  virtual void measured(const Verification& /*tried*/) {}
  virtual void not_tried(const std::string& /*remedy*/, const std::string& /*why*/) {}
};

/// Runs it, watching, with the job's output in RUN/output.log, and examines what was recorded.
/// Errors: kCancelled when a signal told us to end, which the job then was told as well (`told` is
/// that signal); kJobFailed when the job exits with anything but 0 (and was not stopped by us),
/// with the end of its output in the message; kNotSupported when it made too few steps to be
/// measured.
Result<Examination> run_trial(const Installation& parts, const Trial& trial,
                              TrialListener& listener, std::optional<int>& told);

}  // namespace unstarve::trial
