#include "trace/load_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "trace/events/events_file.h"
#include "trace/ring_follower.h"
#include "trace/run_reader.h"
#include "trace/text/hook_text.h"
#include "trace/timeline/used_devices.h"
#include "trace/timeline_sink.h"

namespace unstarve::trace {

namespace {

using Marks = std::map<std::string, RingMark>;

/// Reads what a killed watcher left in the rings, each from where it had got to.
void read_rings(const std::string& dir, const Marks& marks, TimelineSink& sink,
                std::vector<std::string>& remarks) {
  const Result<std::vector<std::string>> paths = list_rings(dir + "/rings");
  if (!paths) {
    remarks.push_back(paths.error().message);
    return;
  }
  for (const std::string& path : *paths) {
    Result<RingFollower> ring = RingFollower::open(path);
    if (!ring) {
      remarks.push_back(ring.error().message);
      continue;
    }
    const auto mark = marks.find(ring->mark().file);
    if (mark != marks.end()) ring->skip_to(mark->second);
    if (const Status drained = ring->drain(sink); !drained) {
      remarks.push_back(drained.error().message);
    }
  }
}

/// A long run's windows are alike, so that some of them say as much as all.
void leave_out_windows(const std::string& events, Timeline& timeline, TimelineSink& sink) {
  constexpr std::uint64_t kEvents = 512 * 1024;  // some 50 MB
  constexpr std::size_t kFewestWindows = 16;
  if (timeline.thinning.level == 0) return;
  const std::size_t windows = sink.windows();
  const std::uint64_t count = count_events(events);
  int level = 0;
  while ((count >> level) > kEvents && (windows >> (level + 1)) >= kFewestWindows) ++level;
  if (level == 0) return;
  sink.leave_out_windows(level);
  timeline.windows_left_out = static_cast<std::int64_t>(windows - sink.windows());
}

/// Nothing where there are no events, or none that can be read.
std::optional<EventsReport> read_events_of(const std::string& dir, std::uint64_t events_max,
                                           Timeline& timeline, TimelineSink& sink,
                                           std::vector<std::string>& remarks) {
  const std::string path = dir + "/events-0.uev";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  leave_out_windows(path, timeline, sink);
  const Result<EventsReport> report = read_events(path, sink, {.events_max = events_max});
  if (!report) {
    remarks.push_back(report.error().message);
    return std::nullopt;
  }
  if (report->has_more) {
    remarks.push_back(fmt::format("{}: its first {} events were read, and none of the later ones",
                                  path, report->events));
  }
  if (report->damage) {
    remarks.push_back(fmt::format("{}: {}; the {} events before that were read", path,
                                  report->damage->message, report->events));
  }
  if (report->events_dropped > 0) {
    remarks.push_back(
        fmt::format("{}: {} damaged events were left out", path, report->events_dropped));
  }
  return *report;
}

/// For device rings these marks rule, not those of the store: they were written with the events.
void take_marks(const EventsReport& report, TimelineSink& sink, Marks& marks) {
  for (const auto& [file, mark] : report.marks) {
    marks[file] = mark;
    sink.set_mark(mark, true);
  }
}

/// What the store says beside its rows.
struct StoredState {
  bool ended = false;
  bool events_lost = false;  // for want of room
  std::vector<ProcessRecord> processes;
};

/// The store's rows and marks. Nothing when it cannot be used at all.
std::optional<StoredState> read_store(const std::string& path, LoadedRun& out, TimelineSink& sink,
                                      Marks& marks) {
  const Result<RunReader> reader = RunReader::open(path);
  if (!reader) {
    out.remarks.push_back(reader.error().message);
    return std::nullopt;
  }
  out.timeline.run_id = reader->info("run_id");
  if (const Status read = reader->read_rows(sink); !read) {
    out.remarks.push_back(read.error().message);
  }
  out.timeline.thinning = reader->thinning();
  if (Result<TotalsBy> thinned = reader->thinned()) {
    out.timeline.thinned = *std::move(thinned);
  } else {
    out.remarks.push_back(thinned.error().message);
  }
  if (const Result<std::vector<RingMark>> known = reader->ring_marks()) {
    for (const RingMark& mark : *known) {
      const bool device_ring = is_device_ring(mark.file);
      // A device ring's mark counts only with its events.
      if (!device_ring) marks[mark.file] = mark;
      sink.set_mark(mark, device_ring);
    }
  }
  // What they said in words is for people alone, so nothing fails for want of it.
  return StoredState{reader->has_ended(), reader->number("events_lost") > 0,
                     reader->processes().value_or(std::vector<ProcessRecord>())};
}

/// Where events no longer fitted, what is not there was not recorded: that no GPU idled then.
void end_recording_with_the_last_event(Timeline& timeline) {
  std::map<std::int64_t, Interval> recorded;  // of each process
  for (const DeviceOp& op : timeline.device_ops) {
    const auto [entry, is_new] =
        recorded.try_emplace(process_of(op.correlation), Interval{op.start_ns, op.end_ns});
    entry->second.end_ns = std::max(entry->second.end_ns, op.end_ns);
  }
  std::vector<RecordedWindow>& windows = timeline.windows;
  for (const auto& [process, when] : recorded) {
    const auto of_process = [process = process](const RecordedWindow& window) {
      return window.process == process;
    };
    if (std::any_of(windows.begin(), windows.end(), of_process)) continue;
    RecordedWindow all;
    all.process = process;
    all.when = when;
    windows.push_back(all);
  }
  for (RecordedWindow& window : windows) {
    const auto last = recorded.find(window.process);
    const std::int64_t end_ns = last == recorded.end() ? 0 : last->second.end_ns;
    window.when.end_ns = std::max(window.when.start_ns, std::min(window.when.end_ns, end_ns));
  }
}

/// Ranks number their loaders alike, so whose worker made a batch is told by who started it.
void add_trainers_of_workers(const std::vector<ProcessRecord>& processes, Timeline& timeline) {
  std::map<std::int64_t, std::int64_t> started_by;
  for (const ProcessRecord& process : processes) {
    if (process.row.role != ProcessRole::kLoaderWorker || !process.row.ppid) continue;
    started_by[process.row.id.pid] = *process.row.ppid;
  }
  for (Fetch& fetch : timeline.fetches) {
    const auto worker = started_by.find(fetch.process);
    if (worker != started_by.end()) fetch.trainer = worker->second;
  }
}

}  // namespace

Result<LoadedRun> load_run_with_remarks(const std::string& path, std::uint64_t events_max) {
  LoadedRun out;
  out.timeline.input = InputKind::kRun;
  out.timeline.file = path;
  TimelineSink sink(out.timeline);
  const bool is_store = std::filesystem::path(path).extension() == ".sqlite";
  const std::string dir = is_store ? std::filesystem::path(path).parent_path().string() : path;
  Marks marks;
  const std::optional<StoredState> stored = read_store(path, out, sink, marks);
  if (!stored && list_rings(dir + "/rings").value_or(std::vector<std::string>()).empty()) {
    return fail(ErrorCode::kNotFound, "{} is no run that can be read: {}", path,
                out.remarks.back());
  }
  const auto events = read_events_of(dir, events_max, out.timeline, sink, out.remarks);
  if (events) take_marks(*events, sink, marks);
  if (!stored || !stored->ended) {
    out.remarks.push_back(
        "the run has not ended, or what watched it was killed; what the job had "
        "written by now was read from its rings");
    read_rings(dir, marks, sink, out.remarks);
  }
  sink.finish();
  if (const auto used = used_devices(out.timeline); !used) return forward_error(used);
  const bool is_cut = (events && events->has_more) || (stored && stored->events_lost);
  if (is_cut) end_recording_with_the_last_event(out.timeline);
  if (stored) {
    add_loader_words(stored->processes, out.timeline);
    add_training_devices(stored->processes, out.timeline);
    add_worker_cpus(stored->processes, out.timeline);
    add_host_work_places(stored->processes, out.timeline);
    add_trainers_of_workers(stored->processes, out.timeline);
  }
  for (std::string& words : missing_rings(dir + "/rings")) {
    out.remarks.push_back(std::move(words));
    out.rings_missing = true;
  }
  return out;
}

Result<Timeline> load_run(const std::string& path) {
  Result<LoadedRun> run = load_run_with_remarks(path);
  if (!run) return forward_error(run);
  return std::move(run->timeline);
}

}  // namespace unstarve::trace
