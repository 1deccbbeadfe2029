#include "runs/watched.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace unstarve::runs {

std::vector<std::string> watched_runs(const host::HostFiles& files) {
  // Readers of a run hold it open for moments, and those who write keep its log open as well.
  constexpr std::string_view kOpenLog = "/run.sqlite-wal";
  std::set<std::string> folders;
  const auto processes = files.list_numbers("/proc");
  if (!processes) return {};
  for (const std::int64_t pid : *processes) {
    const auto name = files.read(fmt::format("/proc/{}/comm", pid));
    if (!name || *name != "unstarve\n") continue;
    const auto open_files = files.list_numbers(fmt::format("/proc/{}/fd", pid));
    if (!open_files) continue;
    for (const std::int64_t file : *open_files) {
      const auto target = files.link_target(fmt::format("/proc/{}/fd/{}", pid, file));
      if (!target || !target->ends_with(kOpenLog)) continue;
      folders.insert(target->substr(0, target->size() - kOpenLog.size()));
    }
  }
  return {folders.begin(), folders.end()};
}

}  // namespace unstarve::runs
