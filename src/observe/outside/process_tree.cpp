#include "observe/outside/process_tree.h"

#include <algorithm>
#include <string>
#include <vector>

#include "observe/outside/samples/sample_book.h"

namespace unstarve::observe {

namespace {

using host::HostFiles;

std::string folder_of(std::int64_t pid) { return "/proc/" + std::to_string(pid); }

Result<host::ProcessStat> read_stat(const HostFiles& files, std::int64_t pid) {
  const Result<std::string> text = files.read(folder_of(pid) + "/stat");
  if (!text) return forward_error(text);
  return host::parse_process_stat(*text);
}

Reading<std::int64_t>& at(TreeCounters& counters, TreeCounter counter) {
  return counters[static_cast<std::size_t>(counter)];
}

void read_io(const HostFiles& files, std::int64_t pid, TreeCounters& out) {
  const Result<std::string> text = files.read(folder_of(pid) + "/io");
  const Result<host::ProcessIo> io =
      text ? host::parse_process_io(*text) : Result<host::ProcessIo>(forward_error(text));
  if (!io) {
    for (const TreeCounter counter :
         {TreeCounter::kReadChars, TreeCounter::kReadBytes, TreeCounter::kWriteBytes}) {
      at(out, counter) = why_absent(io.error());
    }
    return;
  }
  at(out, TreeCounter::kReadChars) = io->read_chars;
  at(out, TreeCounter::kReadBytes) = io->read_bytes;
  at(out, TreeCounter::kWriteBytes) = io->write_bytes;
}

TreeCounters read_counters_of(const HostFiles& files, std::int64_t pid) {
  TreeCounters out;
  read_io(files, pid, out);
  if (const Result<std::string> text = files.read(folder_of(pid) + "/schedstat")) {
    const Result<host::SchedulerStat> stat = host::parse_scheduler_stat(*text);
    if (stat) at(out, TreeCounter::kCpuWaitNs) = stat->wait_ns;
  }
  if (const Result<std::string> text = files.read(folder_of(pid) + "/status")) {
    const Result<host::ProcessStatus> status = host::parse_process_status(*text);
    if (status) {
      at(out, TreeCounter::kVoluntarySwitches) = status->voluntary_switches;
      at(out, TreeCounter::kInvoluntarySwitches) = status->involuntary_switches;
    }
  }
  return out;
}

/// Adds the growth from `first` to `last` to `sum`, counter by counter.
void add_growth(TreeCounters& sum, const TreeCounters& first, const TreeCounters& last) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (last[i] && first[i]) {
      sum[i] = sum[i].value_or(0) + *last[i] - *first[i];
    } else if (!sum[i] && !last[i]) {
      sum[i] = last[i];
    }
  }
}

}  // namespace

ProcessTree::ProcessTree(const HostFiles& files, std::int64_t root_pid) : files_(files) {
  members_[root_pid];
}

void ProcessTree::add_descendants(std::map<std::int64_t, std::int64_t>& parent_of) {
  // Parents and children may have been found in the same listing, in any order.
  bool grew = true;
  while (grew) {
    grew = false;
    for (auto entry = parent_of.begin(); entry != parent_of.end();) {
      if (members_.count(entry->second) == 0) {
        ++entry;
        continue;
      }
      members_[entry->first];
      entry = parent_of.erase(entry);
      grew = true;
    }
  }
  for (const auto& [pid, parent] : parent_of) others_.insert(pid);
}

void ProcessTree::refresh() {
  const Result<std::vector<std::int64_t>> listed = files_.list_numbers("/proc");
  if (!listed) return;
  std::map<std::int64_t, std::int64_t> parent_of;
  std::unordered_set<std::int64_t> still_others;
  for (const std::int64_t pid : *listed) {
    if (members_.count(pid) != 0) continue;
    if (others_.count(pid) != 0) {
      still_others.insert(pid);
      continue;
    }
    if (const Result<host::ProcessStat> stat = read_stat(files_, pid)) parent_of[pid] = stat->ppid;
  }
  others_ = std::move(still_others);
  add_descendants(parent_of);
}

bool ProcessTree::read_member(std::int64_t pid, Member& member, std::int64_t& ticks_used) {
  const Result<host::ProcessStat> stat = read_stat(files_, pid);
  if (!stat) return false;
  if (!member.found) {
    member.found = true;
    member.first = *stat;
    member.last = *stat;
  }
  // Another process by the same number.
  if (stat->start_ticks != member.first.start_ticks) return false;
  ticks_used =
      stat->user_ticks + stat->system_ticks - member.last.user_ticks - member.last.system_ticks;
  member.last = *stat;
  return true;
}

void ProcessTree::bury(const Member& member) {
  if (!member.found) return;
  gone_.user_ticks += member.last.user_ticks - member.first.user_ticks;
  gone_.system_ticks += member.last.system_ticks - member.first.system_ticks;
  gone_.block_io_ticks += member.last.block_io_ticks - member.first.block_io_ticks;
  add_growth(gone_counters_, member.first_counters, member.last_counters);
}

TreeReadings ProcessTree::read() {
  TreeReadings sum = gone_;
  for (auto entry = members_.begin(); entry != members_.end();) {
    Member& member = entry->second;
    std::int64_t ticks_used = 0;
    const bool alive = read_member(entry->first, member, ticks_used);
    sum.user_ticks += member.last.user_ticks - member.first.user_ticks;
    sum.system_ticks += member.last.system_ticks - member.first.system_ticks;
    sum.block_io_ticks += member.last.block_io_ticks - member.first.block_io_ticks;
    if (!alive) {
      bury(member);
      entry = members_.erase(entry);
      continue;
    }
    sum.busiest_ticks = std::max(sum.busiest_ticks, ticks_used);
    ++sum.processes;
    sum.threads += member.last.threads;
    sum.resident_pages += member.last.resident_pages;
    ++entry;
  }
  return sum;
}

TreeCounters ProcessTree::read_counters() {
  TreeCounters sum = gone_counters_;
  for (auto& [pid, member] : members_) {
    const TreeCounters now = read_counters_of(files_, pid);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (!member.first_counters[i]) member.first_counters[i] = now[i];
      if (now[i] || !member.last_counters[i]) member.last_counters[i] = now[i];
    }
    add_growth(sum, member.first_counters, member.last_counters);
  }
  return sum;
}

}  // namespace unstarve::observe
