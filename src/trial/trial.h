#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "examine/examination.h"
#include "isolation/isolation.h"
#include "launch/emulation/emulation.h"
#include "launch/installation.h"
#include "launch/watching/observed_job.h"
#include "observe/outside/live_view.h"
#include "trial/verification.h"

namespace unstarve::trial {

/// When a run of the job has been watched for long enough.
struct TrialLength {
  double seconds = 0;              // after the first step; 0: to the job's end. Four times as
                                   // many for twelve steps, without which nothing is measured
  std::int64_t steps = 0;          // and no more than this, of each rank; 0: any number
  double first_step_within_s = 0;  // else it is stopped; 0: it may take any time
  /// It ends earlier when the mean step is known to half a percent (standard error), from 24 steps
  /// at least.
  bool until_known = false;
};

/// One run of the job with one remedy applied, or none.
struct Trial {
  std::string label;  // "before", or the remedy's id
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string run_dir;
  launch::Emulation* emulation = nullptr;           // as ObservedJobOptions::emulation
  const isolation::Isolation* isolation = nullptr;  // as ObservedJobOptions::isolation
  std::vector<isolation::FileChange> changes = {};  // as ObservedJobOptions::changes
  TrialLength length = {};

  std::string output_file() const { return run_dir + "/output.log"; }
};

/// Told what a series of trials does, by whoever runs one; called from one thread.
class TrialListener {
 public:
  virtual ~TrialListener() = default;
  /// Once, before the first: how the job's files are kept from them.
  virtual void isolated(const isolation::Isolation& /*by*/) {}
  /// Every trial begins with it, also one that then cannot be made. `description`: in words.
  virtual void begins(const std::string& /*label*/, const std::string& /*description*/) {}
  /// About four times a second while a trial runs.
  virtual void watches(const Trial& /*trial*/, const observe::LiveView& /*now*/) {}
  /// A trial's job has ended.
  virtual void ended(const Trial& /*trial*/) {}
  virtual void measured(const Verification& /*tried*/) {}
  virtual void not_tried(const std::string& /*remedy*/, const std::string& /*why*/) {}
};

/// Says when one trial is to end.
class StopWatch {
 public:
  StopWatch(const Clock& clock, const TrialLength& length)
      : clock_(clock), length_(length), started_ns_(clock.now_ns()) {}
  bool go_on(const observe::LiveView& now);

 private:
  /// Whether it is no longer than `bound_s` (0: without bound) since `from_ns`.
  bool is_within(double bound_s, std::int64_t from_ns) const;
  void add_steps(const observe::LiveView& now);
  bool knows_the_step() const;

  const Clock& clock_;
  TrialLength length_;
  const std::int64_t started_ns_;
  std::int64_t first_step_ns_ = 0;
  // The present group of steps began behind so many of them, when the last of those ended.
  std::int64_t steps_before_group_ = 0;
  std::int64_t group_began_ns_ = 0;
  std::vector<double> group_means_ns_;
};

/// Runs it with the job's output in RUN/output.log. `go_on` is asked about four times a second;
/// once it says no the job is stopped. Errors: kCancelled, with the signal, when one told us to
/// end, which the job then was told as well; those of isolation::IsolatedTrial::check().
Result<launch::ObservedJob> run_watched(const launch::Installation& parts, const Trial& trial,
                                        const std::function<bool(const observe::LiveView&)>& go_on);

/// What somebody has to know of how a trial ended.
std::vector<std::string> remarks_on(const launch::ObservedJob& observed, const std::string& label);

/// Runs it, watching, and examines what was recorded.
/// Errors: as run_watched(); kJobFailed when the job exits with anything but 0 (and was not stopped
/// by us), with the end of its output in the message; kNotSupported when it made too few steps to
/// be measured.
Result<examine::Examination> run_trial(const launch::Installation& parts, const Trial& trial,
                                       TrialListener& listener);

}  // namespace unstarve::trial
