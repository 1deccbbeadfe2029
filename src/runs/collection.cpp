#include "runs/collection.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/io/files.h"
#include "base/units.h"
#include "host/process_identity.h"
#include "runs/entries.h"
#include "runs/folder_scan.h"
#include "runs/index.h"
#include "runs/read_run.h"

namespace unstarve::runs {

namespace {

namespace fs = std::filesystem;

// Times of files go by ticks, of 2 s on some file systems: what was read this soon after a change
// may have been changed once more without a trace.
constexpr std::int64_t kTicksNs = 2 * kSecondNs;
constexpr std::int64_t kSilenceNs = 60 * kSecondNs;

bool holds(const RunSummary& kept, const FoundRun& found) {
  return kept.fingerprint == found.fingerprint && kept.read_ns > kept.changed_ns + kTicksNs;
}

void put_in_order(std::vector<CollectedRun>& runs) {
  std::sort(runs.begin(), runs.end(), [](const CollectedRun& a, const CollectedRun& b) {
    const auto key = [](const CollectedRun& run) {
      return std::pair(run.summary.started_wall_ns, run.summary.name);
    };
    return key(a) > key(b);
  });
}

/// All runs of a folder, as they are known where that still holds. Takes them from `known`.
Result<Collection> collect(const std::string& folder, RunsByName& known) {
  const auto found = find_runs(folder);
  if (!found) return forward_error(found);
  io::Files files;
  Collection collection;
  collection.folder = folder;
  for (const FoundRun& run : *found) {
    const auto kept = known.find(run.name);
    if (kept != known.end() && holds(kept->second.summary, run)) {
      collection.runs.push_back(std::move(kept->second));
      continue;
    }
    collection.runs.push_back(read_run(folder, run, files.now_ns()));
    ++collection.read_anew;
  }
  put_in_order(collection.runs);
  return collection;
}

host::Liveness watcher_of(const RunSummary& run, const host::HostFiles& files) {
  const auto watcher = host::parse_process_identity(run.watcher);
  return watcher ? host::liveness_of(*watcher, files) : host::Liveness::kUnknown;
}

}  // namespace

Result<Collection> read_collection(const std::string& folder) {
  RunsByName known = read_index(folder);
  const std::size_t known_before = known.size();
  auto collection = collect(folder, known);
  if (!collection || collection->runs.empty()) return collection;
  const bool as_known = collection->read_anew == 0 && known_before == collection->runs.size();
  // An index that cannot be written costs time and nothing else. A search is read without one.
  if (!as_known && !is_one_entry(*collection)) (void)write_index(folder, collection->runs);
  return collection;
}

Result<Collection> read_entry(const std::string& folder) {
  if (!is_run(folder)) {
    RunsByName none;
    auto inner = collect(folder, none);
    if (!inner || !inner->runs.empty()) return inner;
    return fail(ErrorCode::kNotFound, "{} is neither a run nor a folder of runs", folder);
  }
  const fs::path whole = whole_path(folder);
  Collection collection;
  collection.folder = whole.parent_path().string();
  const auto found = find_run(collection.folder, whole.filename().string());
  if (!found) return fail(ErrorCode::kNotFound, "{} holds no run", folder);
  io::Files files;
  collection.runs.push_back(read_run(collection.folder, *found, files.now_ns()));
  collection.read_anew = 1;
  return collection;
}

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::kRunning: return "running";
    case RunState::kKilled: return "killed";
    case RunState::kEnded: return "ended";
    case RunState::kUnreadable: return "unreadable";
  }
  return "unreadable";
}

RunState state_of(const RunSummary& run, const host::HostFiles& files, std::int64_t now_ns) {
  if (!run.problem.empty()) return RunState::kUnreadable;
  if (run.has_ended) return RunState::kEnded;
  const host::Liveness watcher = watcher_of(run, files);
  if (watcher == host::Liveness::kAlive) return RunState::kRunning;
  if (watcher == host::Liveness::kGone) return RunState::kKilled;
  return now_ns - run.changed_ns < kSilenceNs ? RunState::kRunning : RunState::kKilled;
}

bool is_in_use(const RunSummary& run, const host::HostFiles& files, std::int64_t now_ns) {
  return state_of(run, files, now_ns) == RunState::kRunning ||
         watcher_of(run, files) == host::Liveness::kAlive;
}

}  // namespace unstarve::runs
