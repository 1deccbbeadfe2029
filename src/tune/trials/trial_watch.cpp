#include "tune/trials/trial_watch.h"

#include <algorithm>
#include <utility>

namespace unstarve::tune {

namespace {

constexpr double kGivenUpAt = 1.5;          // times the step of the job as it is
constexpr double kFewestSecondsSlow = 2.0;  // before a trial is given up
constexpr std::int64_t kFewestStepsSlow = 10;
constexpr std::int64_t kFewestSteps = 12;  // the hook times a GPU's from the sixth on
constexpr double kLongerForFewSteps = 4;   // than a trial
// The hook first says what was compiled when the third step ends; the second may compile as long as
// the first.
constexpr std::int64_t kCompilingIsKnownAt = 4;
constexpr double kFirstStepsWithinS = 60;  // at least
constexpr double kLongerForLosses = 3;     // than the job takes for as many steps
constexpr int kMostBegun = 4;              // compiling more often than that is no start

trial::TrialLength length_of(const TrialRequest& request, double trial_seconds) {
  trial::TrialLength length;
  length.first_step_within_s = request.first_step_within_s;
  length.seconds = request.times_longer * trial_seconds;
  length.until_known = request.until_known;
  if (request.parity_seed >= 0) {
    const double take_s = static_cast<double>(request.parity_steps) * request.baseline_step_s;
    length.seconds = std::max(10 * trial_seconds, kLongerForLosses * take_s);
  }
  return length;
}

}  // namespace

TrialWatch::TrialWatch(const Clock& clock, const TrialRequest& request, double trial_seconds,
                       std::function<ToldSoFar()> told_so_far)
    : clock_(clock),
      request_(request),
      told_(std::move(told_so_far)),
      longest_s_(kLongerForFewSteps * request.times_longer * trial_seconds),
      length_(length_of(request, trial_seconds)),
      stop_(std::in_place, clock, length_) {}

bool TrialWatch::go_on(const observe::LiveView& now) {
  if (now.steps_of_one > 0 && first_steps_ == 0) {
    begin_anew(now);
    cold_s_ = began_s_;
  } else if (first_steps_ != 0 && times_begun_ < kMostBegun && has_compiled()) {
    begin_anew(now);
    stop_.emplace(clock_, length_);
  }
  if (has_all_losses()) return false;
  if (is_hopeless(now)) {
    given_up_ = true;
    return false;
  }
  const bool on = stop_->go_on(now) || has_too_few_steps(now);
  timed_out_ = timed_out_ || (!on && now.steps == 0);
  return on;
}

void TrialWatch::begin_anew(const observe::LiveView& now) {
  ++times_begun_;
  began_s_ = static_cast<double>(now.elapsed_ns) * 1e-9;
  first_steps_ = now.steps_of_one;
  first_ended_ns_ = now.last_step_ended_ns ? *now.last_step_ended_ns : clock_.now_ns();
}

bool TrialWatch::has_compiled() {
  const std::int64_t step = told_().last_compiling_step;
  if (step <= compiled_at_) return false;
  compiled_at_ = step;
  return true;
}

bool TrialWatch::is_hopeless(const observe::LiveView& now) const {
  if (request_.baseline_step_s <= 0 || request_.parity_seed >= 0) return false;
  const std::int64_t steps = now.steps_of_one - first_steps_;
  if (first_steps_ == 0 || steps < kFewestStepsSlow || !now.last_step_ended_ns) return false;
  const double seconds = static_cast<double>(*now.last_step_ended_ns - first_ended_ns_) * 1e-9;
  return seconds > kFewestSecondsSlow &&
         seconds / static_cast<double>(steps) > kGivenUpAt * request_.baseline_step_s;
}

/// Of a few steps little is known, and on a GPU nothing: the host runs ahead of it.
bool TrialWatch::has_too_few_steps(const observe::LiveView& now) const {
  if (first_steps_ == 0) return false;
  const double seconds = static_cast<double>(now.elapsed_ns) * 1e-9 - began_s_;
  const bool may_compile = now.steps_of_one < kCompilingIsKnownAt;
  if (may_compile) {
    return seconds < std::max({longest_s_, request_.first_step_within_s, kFirstStepsWithinS});
  }
  const std::int64_t before = times_begun_ > 1 ? first_steps_ : 0;
  const bool are_enough = now.steps_of_one - before >= kFewestSteps;
  return request_.parity_seed < 0 && !are_enough && seconds < longest_s_;
}

/// By the hook's own count: what is watched from outside takes batches for steps until an optimizer
/// steps, and a job that accumulates may take many of them before.
bool TrialWatch::has_all_losses() const {
  return request_.parity_seed >= 0 && told_().recorded_steps >= request_.parity_steps;
}

}  // namespace unstarve::tune
