#include "sink/recent/watched_jobs.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "host/host_files.h"
#include "runs/collection.h"
#include "runs/watched.h"
#include "trace/run_reader.h"

namespace unstarve::sink {

Status WatchedJobs::update() {
  const auto folders = find();
  if (!folders) return forward_error(folders);
  for (const std::string& folder : *folders) add(folder);
  read();
  return {};
}

void WatchedJobs::read() {
  for (Followed& one : jobs_) read_one(one);
}

std::vector<report::LiveJob> WatchedJobs::look(std::int64_t curve_s, double idle_minutes) const {
  std::vector<report::LiveJob> jobs;
  for (const Followed& one : jobs_) {
    report::LiveJob job = one.recent->look(clock_.now_ns(), curve_s);
    if (job.run_dir.empty()) continue;  // nothing was stored by now
    if (idle_minutes > 0) {
      constexpr double kMinuteS = 60;
      job.idle =
          one.recent->is_idle(clock_.now_ns(), static_cast<std::int64_t>(idle_minutes * kMinuteS));
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void WatchedJobs::forget_ended() {
  std::erase_if(jobs_, [](const Followed& one) { return one.has_ended; });
}

/// Those of the folder that go on; without one, all that are watched on this machine.
Result<std::vector<std::string>> WatchedJobs::find() const {
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

void WatchedJobs::add(const std::string& folder) {
  const auto known = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&folder](const Followed& one) { return one.run_dir == folder; });
  if (known != jobs_.end()) return;
  auto follower = RunFollower::open(folder);
  if (!follower) return;  // it has only begun, or is gone: the next look tells
  Followed one;
  one.run_dir = folder;
  one.follower = std::make_unique<RunFollower>(*std::move(follower));
  one.recent = std::make_unique<RecentJob>();
  const Status begun =
      one.follower->begin_at(clock_.now_ns() - RecentJob::kKeptSeconds * kSecondNs);
  if (begun) jobs_.push_back(std::move(one));
}

void WatchedJobs::read_one(Followed& one) {
  if (one.has_ended) return;
  const auto followed = one.follower->advance(*one.recent);
  // A run that cannot be read was removed, as a trial's is.
  one.has_ended = !followed || followed->has_ended;
}

}  // namespace unstarve::sink
