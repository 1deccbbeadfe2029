#include "trial/trial.h"

#include <cstring>
#include <deque>
#include <fstream>

#include "base/clock.h"
#include "trial/observed_job.h"

namespace unstarve::trial {

namespace {

constexpr std::size_t kShownLines = 12;

/// The last lines of a job's output, indented, for an error message.
std::string end_of(const std::string& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > kShownLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n    " + line;
  return text;
}

constexpr double kNsPerSecond = 1e9;

/// Says when a trial has run for long enough.
class StopWatch {
 public:
  StopWatch(const Clock& clock, const Trial& trial)
      : clock_(clock), trial_(trial), started_ns_(clock.now_ns()) {}
  bool go_on(const observe::LiveView& view) {
    const std::int64_t now_ns = clock_.now_ns();
    if (view.steps == 0) return within(trial_.first_step_within_s, started_ns_, now_ns);
    if (first_step_ns_ == 0) first_step_ns_ = now_ns;
    if (trial_.stop_after_steps > 0 && view.steps >= trial_.stop_after_steps) return false;
    return within(trial_.stop_after_s, first_step_ns_, now_ns);
  }

 private:
  static bool within(double bound_s, std::int64_t from_ns, std::int64_t now_ns) {
    return bound_s <= 0 || static_cast<double>(now_ns - from_ns) < bound_s * kNsPerSecond;
  }

  const Clock& clock_;
  const Trial& trial_;
  const std::int64_t started_ns_;
  std::int64_t first_step_ns_ = 0;
};

}  // namespace

Result<Examination> run_trial(const Installation& parts, const Trial& trial,
                              TrialListener& listener, std::optional<int>& told) {
  const SteadyClock clock;
  StopWatch watch(clock, trial);
  ObservedJobOptions options;
  options.command = trial.command;
  options.environment = trial.environment;
  options.run_dir = trial.run_dir;
  options.emulation = trial.emulation;
  options.own_process_group = trial.stop_after_s > 0;
  options.output_file = trial.run_dir + "/output.log";
  options.on_tick = [&](const observe::LiveView& view) {
    listener.watches(trial, view);
    return watch.go_on(view);
  };
  const auto observed = run_observed(parts, options);
  listener.ended(trial);
  if (!observed) return forward_error(observed);
  if (observed->not_started) return tl::unexpected<Error>(*observed->not_started);
  told = observed->exit.told;
  if (told) {
    return fail(ErrorCode::kCancelled, "ended by a signal ({}) during '{}'; its run is {}",
                ::strsignal(*told), trial.label, trial.run_dir);
  }
  if (observed->exit.exit_code != 0 && !observed->stopped_by_us) {
    return fail(ErrorCode::kJobFailed, "the job ({}) exited with {}; its output is {} and ends:{}",
                trial.label, observed->exit.exit_code, options.output_file,
                end_of(options.output_file));
  }
  auto examined = examine_run(trial.run_dir);
  if (!examined) return forward_error(examined);
  if (!examined->measured) {
    return fail(ErrorCode::kNotSupported, "{}: {}", trial.label,
                examined->remarks.empty() ? "too few steps" : examined->remarks.front());
  }
  return examined;
}

}  // namespace unstarve::trial
