#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/console/screen.h"
#include "cli/console/stop_signals.h"
#include "cli/console/terminal.h"
#include "host/host_files.h"
#include "report/live/live_screen.h"
#include "runs/collection.h"
#include "runs/watched.h"
#include "sink/recent/recent_job.h"
#include "sink/run_follower.h"
#include "trace/run_reader.h"

namespace unstarve::cli {

namespace {

constexpr std::array<std::int64_t, 5> kZooms = {30, 60, 300, 900, 3600};  // seconds of a curve

struct TopOptions {
  std::string where;
  bool once = false;
  bool json = false;
  double idle_minutes = 0;
  double every_s = 1;
};

/// A run that is followed.
struct Followed {
  std::string run_dir;
  std::unique_ptr<sink::RunFollower> follower;
  std::unique_ptr<sink::RecentJob> recent;
  bool has_ended = false;
};

/// The jobs that are looked at.
class Jobs {
 public:
  Jobs(std::string where, Clock& clock) : where_(std::move(where)), clock_(clock) {}

  /// Finds runs that are new, and reads what is new of each.
  Status update() {
    const auto folders = find();
    if (!folders) return forward_error(folders);
    for (const std::string& folder : *folders) add(folder);
    for (Followed& one : jobs_) read(one);
    return {};
  }

  std::vector<report::LiveJob> look(std::int64_t curve_s, double idle_minutes) const {
    std::vector<report::LiveJob> jobs;
    for (const Followed& one : jobs_) {
      report::LiveJob job = one.recent->look(clock_.now_ns(), curve_s);
      if (job.run_dir.empty()) continue;  // nothing was stored by now
      if (idle_minutes > 0) {
        constexpr double kMinuteS = 60;
        job.idle = one.recent->is_idle(clock_.now_ns(),
                                       static_cast<std::int64_t>(idle_minutes * kMinuteS));
      }
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

 private:
  /// Those of the folder that go on; without one, all that are watched on this machine.
  Result<std::vector<std::string>> find() const {
    if (where_.empty()) return runs::watched_runs(host::HostFiles());
    if (const auto run = trace::RunReader::open(where_); run) return std::vector{where_};
    const auto collection = runs::read_collection(where_);
    if (!collection) return forward_error(collection);
    const host::HostFiles files;
    std::vector<std::string> folders;
    for (const runs::CollectedRun& run : collection->runs) {
      const auto state = runs::state_of(run.summary, files, wall_time_ns());
      if (state == runs::RunState::kRunning) folders.push_back(where_ + "/" + run.summary.name);
    }
    return folders;
  }

  void add(const std::string& folder) {
    const auto known = std::find_if(jobs_.begin(), jobs_.end(), [&folder](const Followed& one) {
      return one.run_dir == folder;
    });
    if (known != jobs_.end()) return;
    auto follower = sink::RunFollower::open(folder);
    if (!follower) return;  // it has only begun, or is gone: the next look tells
    Followed one;
    one.run_dir = folder;
    one.follower = std::make_unique<sink::RunFollower>(*std::move(follower));
    one.recent = std::make_unique<sink::RecentJob>();
    const Status begun =
        one.follower->begin_at(clock_.now_ns() - sink::RecentJob::kKeptSeconds * kSecondNs);
    if (begun) jobs_.push_back(std::move(one));
  }

  static void read(Followed& one) {
    if (one.has_ended) return;
    const auto followed = one.follower->advance(*one.recent);
    // A run that cannot be read was removed, as a trial's is.
    one.has_ended = !followed || followed->has_ended;
  }

  std::string where_;
  Clock& clock_;
  std::vector<Followed> jobs_;
};

std::string nothing_watched(const std::string& where) {
  return where.empty() ? "no job is watched on this machine: unstarve run -- python train.py"
                       : fmt::format("no run goes on in {}", where);
}

/// 0: none idles; kGateFailed: one does; kUndecided: none is watched, or its GPU is not read.
int idle_code(const std::vector<report::LiveJob>& jobs) {
  bool unknown = jobs.empty();
  for (const report::LiveJob& job : jobs) {
    if (job.idle && *job.idle) return kGateFailed;
    unknown = unknown || !job.idle;
  }
  return unknown ? kUndecided : kSuccess;
}

void print_plain(const std::vector<report::LiveJob>& jobs, const TopOptions& options) {
  if (jobs.empty()) write_text(Stream::kOut, nothing_watched(options.where) + "\n");
  for (const std::string& line : report::render_jobs(jobs, text_options(Stream::kOut), 0)) {
    write_text(Stream::kOut, line + "\n");
  }
}

Status look_once(const TopOptions& options, Clock& clock, CommandContext& context) {
  Jobs jobs(options.where, clock);
  if (const Status updated = jobs.update(); !updated) return updated;
  const auto found = jobs.look(kZooms[1], options.idle_minutes);
  if (options.json) {
    write_text(Stream::kOut, report::live_json(found));
  } else {
    print_plain(found, options);
  }
  if (options.idle_minutes > 0) context.exit_code = idle_code(found);
  return {};
}

/// Where there is no screen: a line for each job, now and then.
Status tell(const TopOptions& options, Clock& clock) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  Jobs jobs(options.where, clock);
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

/// What keys change.
struct View {
  std::size_t zoom = 1;
  std::size_t first = 0;  // the job that is shown first
  bool paused = false;
  bool left = false;

  void press(char key) {
    switch (key) {
      case 'q': left = true; break;
      case ' ':
      case 'p': paused = !paused; break;
      case '+': zoom -= zoom > 0 ? 1 : 0; break;
      case '-': zoom += zoom + 1 < kZooms.size() ? 1 : 0; break;
      case 'n':
      case '\t': ++first; break;
      default: break;
    }
  }
};

std::vector<std::string> drawn(std::vector<report::LiveJob> jobs, const View& view,
                               const TopOptions& options) {
  const report::TextOptions text = text_options(Stream::kOut);
  const std::string head =
      fmt::format("{} job{}   curves of {} s   q leave  p {}  + - zoom  n next{}", jobs.size(),
                  jobs.size() == 1 ? "" : "s", kZooms[view.zoom], view.paused ? "go on" : "pause",
                  view.paused ? "   PAUSED" : "");
  std::vector<std::string> lines = {
      report::paint(report::clip(head, text.width, text), report::Tone::kFaint, text), ""};
  if (jobs.empty()) {
    lines.push_back(report::clip(nothing_watched(options.where), text.width, text));
    return lines;
  }
  std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(view.first % jobs.size()),
              jobs.end());
  const int room = Screen::lines() - static_cast<int>(lines.size());
  for (std::string& line : report::render_jobs(jobs, text, std::max(room, 1))) {
    lines.push_back(std::move(line));
  }
  return lines;
}

Status show(const TopOptions& options, Clock& clock) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  Jobs jobs(options.where, clock);
  if (const Status updated = jobs.update(); !updated) return updated;
  const Screen screen;
  View view;
  std::vector<report::LiveJob> shown;
  std::int64_t due_ns = 0;
  while (!stop->came() && !view.left) {
    if (clock.now_ns() >= due_ns) {
      due_ns = clock.now_ns() + static_cast<std::int64_t>(options.every_s * 1e9);
      if (const Status updated = jobs.update(); !updated) return updated;
    }
    if (!view.paused) shown = jobs.look(kZooms[view.zoom], 0);
    Screen::draw(drawn(shown, view, options));
    constexpr std::int64_t kMsNs = 1'000'000;
    const std::int64_t wait_ms = std::max<std::int64_t>(0, (due_ns - clock.now_ns()) / kMsNs);
    if (const auto key = Screen::key(wait_ms)) view.press(*key);
  }
  return {};
}

}  // namespace

void add_top_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<TopOptions>();
  Command command = line.add_command(
      "top",
      "show the jobs that are watched now: what their time goes to, and their GPUs\n"
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
