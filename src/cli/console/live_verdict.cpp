#include "cli/console/live_verdict.h"

#include <algorithm>

#include "base/units.h"
#include "cli/console/terminal.h"

namespace unstarve::cli {

namespace {

// Enough of a look at a job of short steps; what is known of one of long steps is said in time.
constexpr std::int64_t kFirstNs = 6 * kSecondNs;
constexpr std::int64_t kFirstAtLatestNs = 12 * kSecondNs;
constexpr std::int64_t kFewSteps = 3;
// A log stays short; on a terminal the job writes too.
constexpr std::int64_t kAgainInLogNs = 600 * kSecondNs;
constexpr std::int64_t kAgainOnTerminalNs = 3 * kSecondNs;
// What is spoken of is the last while.
constexpr std::int64_t kWhileNs = 30 * kSecondNs;

report::ProgressOptions options() {
  report::ProgressOptions options = progress_options();
  options.shared = true;
  options.quiet_ns = 0;  // when something is said is decided here
  options.line_every_ns = 0;
  return options;
}

/// The mean of the readings of the last `count` ticks.
Reading<double> recent_utilization(const observe::LiveView& view) {
  double sum = 0;
  double known = 0;
  for (const Reading<double>& value : view.gpu_utilization) {
    if (!value) continue;
    sum += *value;
    ++known;
  }
  if (known == 0) return WhyAbsent::kNotObserved;
  return sum / known;
}

}  // namespace

LiveVerdictLine::LiveVerdictLine(const Clock& clock, bool emulated)
    : clock_(clock),
      emulated_(emulated),
      line_(clock, options(), [](std::string_view text) { write_text(Stream::kErr, text); }) {}

void LiveVerdictLine::tell_errors(const observe::LiveView& view) {
  for (const observe::LatestSample& errors : view.latest) {
    if (errors.name != "gpu.xid_errors" || !errors.value) continue;
    double& told_count = errors_told_[errors.subject];
    if (*errors.value <= told_count) continue;
    const auto count = static_cast<std::int64_t>(*errors.value - told_count);
    told_count = *errors.value;
    const auto last = std::find_if(
        view.latest.begin(), view.latest.end(), [&errors](const observe::LatestSample& sample) {
          return sample.name == "gpu.last_xid" && sample.subject == errors.subject;
        });
    if (last == view.latest.end() || !last->value) continue;
    line_.clear();
    const auto xid = static_cast<std::int64_t>(*last->value);
    write_text(Stream::kErr,
               "unstarve: " + report::render_gpu_error(errors.subject, count, xid) + "\n");
  }
}

report::LiveVerdict LiveVerdictLine::verdict(const observe::LiveView& view,
                                             std::int64_t now_ns) const {
  const Count& since = *since_;
  const double elapsed_s = static_cast<double>(now_ns - since.t_ns) * kSecondsPerNs;
  const double waited_s =
      static_cast<double>(view.waited_ns - since.view.waited_ns) * kSecondsPerNs;
  const auto threads = static_cast<double>(std::max<std::int64_t>(view.training_processes, 1));
  report::LiveVerdict now;
  // A wait is counted when it ends, so that one longer than the while would give over 1.
  now.wait_share = std::min(waited_s / (elapsed_s * threads), 1.0);
  now.workers = view.loader_workers;
  now.gpu_utilization = recent_utilization(view);
  if (view.samples > since.view.samples) {
    now.samples_per_s = static_cast<double>(view.samples - since.view.samples) / elapsed_s;
  }
  now.steps = view.steps;
  now.emulated = emulated_;
  return now;
}

void LiveVerdictLine::update(const observe::LiveView& view) {
  tell_errors(view);
  const std::int64_t now_ns = clock_.now_ns();
  if (!training_) {
    if (view.steps + view.waits == 0) return;
    training_ = Count{now_ns, view};
    since_ = training_;
    due_ns_ = now_ns + kFirstNs;
  }
  if (now_ns < due_ns_) return;
  const bool few = view.steps < kFewSteps;
  if (few && now_ns - training_->t_ns < kFirstAtLatestNs) return;
  line_.update("unstarve: " + report::render_verdict(verdict(view, now_ns)));
  const bool on_terminal = is_terminal(Stream::kErr);
  due_ns_ = now_ns + (on_terminal ? kAgainOnTerminalNs : kAgainInLogNs);
  if (now_ns - since_->t_ns >= kWhileNs) since_ = Count{now_ns, view};
}

}  // namespace unstarve::cli
