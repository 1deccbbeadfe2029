#include "runs/entries.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "runs/folder_scan.h"
#include "runs/index.h"

namespace unstarve::runs {

namespace {

bool has_tag(const RunSummary& run, const std::string& tag) {
  const std::vector<std::string> tags = tags_of(run);
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

bool is_failed(const ListedRun& listed) {
  const RunSummary& run = listed.run->summary;
  if (listed.state == RunState::kRunning) return false;
  if (listed.state != RunState::kEnded) return true;
  return !run.stopped_by_us && (run.exit_signal.has_value() || run.exit_code.value_or(0) != 0);
}

bool is_wanted(const ListedRun& listed, const ListFilter& filter) {
  return (filter.tag.empty() || has_tag(listed.run->summary, filter.tag)) &&
         (!filter.failed || is_failed(listed));
}

}  // namespace

bool belong_together(const std::vector<const CollectedRun*>& runs) {
  const bool has_stages = std::all_of(runs.begin(), runs.end(), [](const CollectedRun* run) {
    return !run->summary.stage.empty();
  });
  return has_stages || std::any_of(runs.begin(), runs.end(), [](const CollectedRun* run) {
           const std::string& name = run->summary.name;
           const std::string own = name.substr(name.rfind('/') + 1);
           // Of `run --fix`, of `tune`, of `gate`.
           return own == "before" || own == "baseline" || own == "now-warm-up";
         });
}

bool is_one_entry(const Collection& collection) {
  std::vector<const CollectedRun*> runs;
  for (const CollectedRun& run : collection.runs) {
    const std::string group = group_of(run.summary);
    if (!group.empty() && group != kTrialsFolder) return false;
    runs.push_back(&run);
  }
  std::error_code unknown;
  const bool has_index = std::filesystem::exists(collection.folder + "/" + kIndexFile, unknown);
  return !runs.empty() && !has_index && belong_together(runs);
}

std::vector<Entry> entries_of(const Collection& collection) {
  std::map<std::string, std::vector<const CollectedRun*>> groups;
  for (const CollectedRun& run : collection.runs) groups[group_of(run.summary)].push_back(&run);
  std::vector<Entry> entries;
  // By the newest of its runs, which comes first.
  for (const CollectedRun& run : collection.runs) {
    const std::string group = group_of(run.summary);
    std::vector<const CollectedRun*>& runs = groups[group];
    if (group.empty() || (!runs.empty() && !belong_together(runs))) {
      entries.push_back({run.summary.name, {&run}});
    } else if (!runs.empty()) {
      std::reverse(runs.begin(), runs.end());
      entries.push_back({group, std::exchange(runs, {})});
    }
  }
  return entries;
}

std::vector<ListedRun> list_runs(const Collection& collection, const ListFilter& filter,
                                 const host::HostFiles& files, std::int64_t now_ns) {
  std::vector<ListedRun> listed;
  const auto is_full = [&listed, &filter] {
    return filter.at_most > 0 && listed.size() >= static_cast<std::size_t>(filter.at_most);
  };
  const auto add = [&](const CollectedRun& run, const std::string& name, std::size_t of_runs) {
    ListedRun line = {&run, name, of_runs, state_of(run.summary, files, now_ns)};
    if (!is_full() && is_wanted(line, filter)) listed.push_back(std::move(line));
  };
  for (const Entry& entry : entries_of(collection)) {
    if (!filter.all && !entry.has_stages()) {
      add(*entry.runs.front(), entry.name, entry.runs.size());
      continue;
    }
    for (auto run = entry.runs.rbegin(); run != entry.runs.rend(); ++run) {
      add(**run, (*run)->summary.name, 1);
    }
  }
  return listed;
}

}  // namespace unstarve::runs
