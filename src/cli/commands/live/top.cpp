#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/console/job_screen.h"
#include "cli/console/screen.h"
#include "cli/console/stop_signals.h"
#include "cli/console/terminal.h"
#include "report/live/live_screen.h"
#include "sink/recent/other_gpus.h"
#include "sink/recent/recent_job.h"
#include "sink/recent/watched_jobs.h"

namespace unstarve::cli {

namespace {

struct TopOptions {
  std::string where;
  bool once = false;
  bool json = false;
  double idle_minutes = 0;
  double every_s = 1;
};

/// 0: none idles; kGateFailed: one does; kUndecided: none is watched, or its GPU is not read.
int idle_code(const std::vector<report::LiveJob>& jobs) {
  bool unknown = jobs.empty();
  for (const report::LiveJob& job : jobs) {
    if (job.idle && *job.idle) return kGateFailed;
    unknown = unknown || !job.idle;
  }
  return unknown ? kUndecided : kSuccess;
}

void print_plain(const std::vector<report::LiveJob>& jobs,
                 const std::vector<report::OtherGpu>& others, const TopOptions& options) {
  if (jobs.empty()) write_text(Stream::kOut, nothing_watched(options.where) + "\n");
  for (const std::string& line : report::render_jobs(jobs, text_options(Stream::kOut), 0)) {
    write_text(Stream::kOut, line + "\n");
  }
  for (const std::string& line : report::render_other_gpus(others, text_options(Stream::kOut))) {
    write_text(Stream::kOut, line + "\n");
  }
}

Status look_once(const TopOptions& options, Clock& clock, CommandContext& context) {
  sink::WatchedJobs jobs(options.where, clock);
  if (const Status updated = jobs.update(); !updated) return updated;
  const auto found = jobs.look(JobScreen::kZooms[1], options.idle_minutes);
  std::vector<report::OtherGpu> others;
  if (options.where.empty()) others = sink::OtherGpus(clock).look(found, 0);
  if (options.json) {
    write_text(Stream::kOut, report::live_json(found, options.where.empty() ? &others : nullptr));
  } else {
    print_plain(found, others, options);
  }
  if (options.idle_minutes > 0) context.exit_code = idle_code(found);
  return {};
}

/// Where there is no screen: a line for each job, now and then.
Status tell(const TopOptions& options, Clock& clock) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  sink::WatchedJobs jobs(options.where, clock);
  constexpr std::int64_t kBetweenNs = 10 * kSecondNs;
  std::int64_t due_ns = clock.now_ns();
  while (!stop->came()) {
    if (clock.now_ns() >= due_ns) {
      due_ns = clock.now_ns() + kBetweenNs;
      if (const Status updated = jobs.update(); !updated) return updated;
      const auto found = jobs.look(0, 0);
      if (found.empty()) write_text(Stream::kOut, nothing_watched(options.where) + "\n");
      for (const report::LiveJob& job : found) {
        write_text(Stream::kOut, report::printable(job.run_dir + ": " + report::live_sentence(job),
                                                   text_options(Stream::kOut)) +
                                     "\n");
      }
    }
    clock.sleep_until_ns(std::min(due_ns, clock.now_ns() + kSecondNs / 4));
  }
  return {};
}

Status show(const TopOptions& options, Clock& clock) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  JobScreen screen(options.where, static_cast<std::int64_t>(options.every_s * kSecondNs), clock);
  constexpr std::int64_t kMostMs = 60'000;
  while (!stop->came() && !screen.is_left()) {
    if (const Status turned = screen.turn(kMostMs); !turned) return turned;
  }
  return {};
}

}  // namespace

void add_top_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<TopOptions>();
  Command command = line.add_command(
      "top",
      "show the jobs that are watched now, what their time goes to, and this machine's GPUs\n"
      "example: unstarve top --once --idle 10; exit codes: 0 none idles, 3 one does, 4 cannot "
      "tell");
  command.option("where", options->where,
                 "a run, or a folder of runs (default: all that are watched on this machine)");
  command.flag("--once", options->once, "look once, and print it");
  command.flag("--json", options->json, "look once, and print one JSON object");
  command
      .option("--idle", options->idle_minutes,
              "look once: has a job that trained done nothing for so many minutes, its GPUs "
              "neither? Start-up, evaluation and checkpoints are no idling")
      .between(0.1, static_cast<double>(sink::RecentJob::kKeptSeconds) / 60);
  command.option("--every", options->every_s, "seconds between two looks")
      .between(0.2, 60)
      .shows_default();
  command.when_named([options, &context] {
    SteadyClock clock;
    const bool once = options->once || options->json || options->idle_minutes > 0;
    const Status done = once                    ? look_once(*options, clock, context)
                        : Screen::is_possible() ? show(*options, clock)
                                                : tell(*options, clock);
    if (!done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
