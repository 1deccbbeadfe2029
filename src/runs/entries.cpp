#include "runs/entries.h"

#include <algorithm>
#include <map>

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

std::vector<Entry> entries_of(const Collection& collection) {
  std::vector<Entry> entries;
  std::map<std::string, std::size_t> of_group;
  for (const CollectedRun& run : collection.runs) {
    const std::string group = group_of(run.summary);
    const auto [known, is_new] = of_group.try_emplace(group, entries.size());
    if (group.empty() || is_new) {
      entries.push_back({group.empty() ? run.summary.name : group, {}});
      known->second = entries.size() - 1;
    }
    entries[known->second].runs.push_back(&run);
  }
  for (Entry& entry : entries) std::reverse(entry.runs.begin(), entry.runs.end());
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
