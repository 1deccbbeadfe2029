#include "trial/trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

namespace unstarve::trial {

namespace {

constexpr std::size_t kShownLines = 12;
// Steps that follow each other are alike, so their error comes from the means of groups of them.
constexpr std::int64_t kGroupSteps = 4;
constexpr std::size_t kFewestGroups = 6;
constexpr double kKnownTo = 0.005;  // of the mean step
// Fewer are not measured: where they take that long, a trial has some times its seconds.
constexpr std::int64_t kFewestSteps = 12;
constexpr double kLongest = 4;

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

}  // namespace

bool StopWatch::is_within(double bound_s, std::int64_t from_ns) const {
  return bound_s <= 0 || static_cast<double>(clock_.now_ns() - from_ns) < bound_s * 1e9;
}

bool StopWatch::go_on(const observe::LiveView& now) {
  if (now.steps == 0) return is_within(length_.first_step_within_s, started_ns_);
  if (first_step_ns_ == 0) first_step_ns_ = clock_.now_ns();
  if (length_.steps > 0 && now.steps_of_one >= length_.steps) return false;
  if (length_.seconds <= 0) return true;
  add_steps(now);
  if (length_.until_known && knows_the_step()) return false;
  const double seconds =
      now.steps_of_one < kFewestSteps ? kLongest * length_.seconds : length_.seconds;
  return is_within(seconds, first_step_ns_);
}

void StopWatch::add_steps(const observe::LiveView& now) {
  if (!now.last_step_ended_ns) return;
  const std::int64_t steps = now.steps_of_one - steps_before_group_;
  const bool warm_up = steps_before_group_ == 0;
  if (!warm_up && steps < kGroupSteps) return;
  if (!warm_up) {
    const auto took_ns = static_cast<double>(*now.last_step_ended_ns - group_began_ns_);
    group_means_ns_.push_back(took_ns / static_cast<double>(steps));
  }
  steps_before_group_ = now.steps_of_one;
  group_began_ns_ = *now.last_step_ended_ns;
}

bool StopWatch::knows_the_step() const {
  if (group_means_ns_.size() < kFewestGroups) return false;
  const auto groups = static_cast<double>(group_means_ns_.size());
  double mean_ns = 0;
  for (const double group_ns : group_means_ns_) mean_ns += group_ns / groups;
  double squares = 0;
  for (const double group_ns : group_means_ns_) squares += std::pow(group_ns - mean_ns, 2);
  return std::sqrt(squares / (groups - 1) / groups) < kKnownTo * mean_ns;
}

std::vector<std::string> remarks_on(const launch::ObservedJob& observed, const std::string& label) {
  std::vector<std::string> remarks;
  if (observed.killed) {
    remarks.push_back(fmt::format(
        "{}: the job went on after SIGINT and SIGTERM, and was killed with all it had started",
        label));
  } else if (observed.left_over > 0) {
    remarks.push_back(fmt::format("{}: {} of its processes went on after its end, and were killed",
                                  label, observed.left_over));
  }
  if (!observed.read_only.empty()) {
    remarks.push_back(fmt::format("{}: could only be read in the trial: {}", label,
                                  fmt::join(observed.read_only, ", ")));
  }
  return remarks;
}

Result<launch::ObservedJob> run_watched(
    const launch::Installation& parts, const Trial& trial,
    const std::function<bool(const observe::LiveView&)>& go_on) {
  launch::ObservedJobOptions options;
  options.command = trial.command;
  options.environment = trial.environment;
  options.run_dir = trial.run_dir;
  options.emulation = trial.emulation;
  options.isolation = trial.isolation;
  options.changes = trial.changes;
  options.own_process_group = trial.length.seconds > 0;
  options.output_file = trial.output_file();
  options.on_tick = go_on;
  auto observed = launch::run_observed(parts, options);
  if (!observed) return observed;
  if (observed->not_started) return tl::unexpected<Error>(*observed->not_started);
  if (const std::optional<int> signal_number = observed->exit.told; signal_number) {
    return fail_by_signal(*signal_number,
                          fmt::format("ended by a signal ({}) during '{}'; its run is {}",
                                      ::strsignal(*signal_number), trial.label, trial.run_dir));
  }
  if (observed->stopped_for) return tl::unexpected<Error>(*observed->stopped_for);
  return observed;
}

Result<examine::Examination> run_trial(const launch::Installation& parts, const Trial& trial,
                                       TrialListener& listener) {
  const SteadyClock clock;
  StopWatch watch(clock, trial.length);
  const auto observed = run_watched(parts, trial, [&](const observe::LiveView& view) {
    listener.watches(trial, view);
    return watch.go_on(view);
  });
  listener.ended(trial);
  if (!observed) return forward_error(observed);
  if (observed->exit.exit_code != 0 && !observed->stopped_by_us) {
    return fail(ErrorCode::kJobFailed, "the job ({}) exited with {}; its output is {} and ends:{}",
                trial.label, observed->exit.exit_code, trial.output_file(),
                end_of(trial.output_file()));
  }
  auto examined = examine::examine_run(trial.run_dir);
  if (!examined) return forward_error(examined);
  if (!examined->measured) {
    return fail(ErrorCode::kNotSupported, "{}: {}", trial.label,
                examined->remarks.empty() ? "too few steps" : examined->remarks.front());
  }
  for (std::string& remark : remarks_on(*observed, trial.label)) {
    examined->remarks.push_back(std::move(remark));
  }
  return examined;
}

}  // namespace unstarve::trial
