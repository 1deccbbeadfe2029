#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "observe/outside/live_view.h"
#include "trial/trial.h"
#include "tune/trials/trial_result.h"

namespace unstarve::tune {

/// What the hook has said so far of a trial that runs.
struct ToldSoFar {
  std::int64_t last_compiling_step = 0;  // from 1; 0: torch.compile made no graph
  std::int64_t recorded_steps = 0;       // whose losses are recorded, of a run made for that
};

/// Watches one trial while it runs, and says when it is to end.
class TrialWatch {
 public:
  TrialWatch(const Clock& clock, const TrialRequest& request, double trial_seconds,
             std::function<ToldSoFar()> told_so_far);

  bool go_on(const observe::LiveView& now);
  double cold_s() const { return cold_s_; }  // from the start to the first step
  bool given_up() const { return given_up_; }
  bool timed_out() const { return timed_out_; }

 private:
  /// Looks at steps from now on, as if they were the first.
  void begin_anew(const observe::LiveView& now);
  bool has_compiled();
  bool is_hopeless(const observe::LiveView& now) const;
  bool has_too_few_steps(const observe::LiveView& now) const;
  bool has_all_losses() const;

  const Clock& clock_;
  const TrialRequest& request_;
  const std::function<ToldSoFar()> told_;
  const double longest_s_;  // behind the first step, where steps are few
  const trial::TrialLength length_;
  std::optional<trial::StopWatch> stop_;
  std::int64_t first_steps_ = 0;  // of one rank, when the watch began
  std::int64_t first_ended_ns_ = 0;
  std::int64_t compiled_at_ = 1;  // The first step's is known to be a start.
  int times_begun_ = 0;
  double cold_s_ = 0;
  double began_s_ = 0;
  bool given_up_ = false;
  bool timed_out_ = false;
};

}  // namespace unstarve::tune
