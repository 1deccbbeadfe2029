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

// A listing of so many processes takes about 0.1 ms: a thousandth of the time between two readings.
constexpr std::int64_t kShortListing = 512;
constexpr std::int64_t kReadingsPerLongListing = 5;

CpuTicks cpu_of(const host::ProcessStat& stat) { return {stat.user_ticks, stat.system_ticks}; }

CpuTicks reaped_by(const host::ProcessStat& stat) {
  return {stat.reaped_user_ticks, stat.reaped_system_ticks};
}

CpuTicks operator+(CpuTicks left, CpuTicks right) {
  return {left.user + right.user, left.system + right.system};
}

CpuTicks operator-(CpuTicks left, CpuTicks right) {
  return {left.user - right.user, left.system - right.system};
}

void operator+=(CpuTicks& sum, CpuTicks more) { sum = sum + more; }

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
  parents_first_.push_back(root_pid);
}

void ProcessTree::add_descendants(std::map<std::int64_t, host::ProcessStat>& unknown) {
  // Parents and children may have been found in the same listing, in any order.
  bool grew = true;
  while (grew) {
    grew = false;
    for (auto entry = unknown.begin(); entry != unknown.end();) {
      if (members_.count(entry->second.ppid) == 0) {
        ++entry;
        continue;
      }
      members_[entry->first].newborn =
          youngest_ticks_ > 0 && entry->second.start_ticks > youngest_ticks_;
      parents_first_.push_back(entry->first);
      entry = unknown.erase(entry);
      grew = true;
    }
  }
  for (const auto& [pid, stat] : unknown) others_.insert(pid);
}

void ProcessTree::refresh() {
  const Result<std::vector<std::int64_t>> listed = files_.list_numbers("/proc");
  if (!listed) return;
  std::map<std::int64_t, host::ProcessStat> unknown;
  std::unordered_set<std::int64_t> still_others;
  std::int64_t youngest_ticks = youngest_ticks_;
  for (const std::int64_t pid : *listed) {
    if (members_.count(pid) != 0) continue;
    if (others_.count(pid) != 0) {
      still_others.insert(pid);
      continue;
    }
    const Result<host::ProcessStat> stat = read_stat(files_, pid);
    if (!stat) continue;
    youngest_ticks = std::max(youngest_ticks, stat->start_ticks);
    unknown[pid] = *stat;
  }
  others_ = std::move(still_others);
  add_descendants(unknown);
  youngest_ticks_ = youngest_ticks;
  const bool is_long = static_cast<std::int64_t>(listed->size()) > kShortListing;
  readings_per_listing_ = is_long ? kReadingsPerLongListing : 1;
}

void ProcessTree::begin_member(Member& member, const host::ProcessStat& stat) {
  member.found = true;
  member.first = stat;
  member.last = stat;
  if (member.newborn) {
    late_ += cpu_of(stat);
    member.first.user_ticks = member.first.system_ticks = 0;
    member.first.reaped_user_ticks = member.first.reaped_system_ticks = 0;
    member.first.block_io_ticks = 0;
  }
}

bool ProcessTree::read_member(std::int64_t pid, Member& member, std::int64_t& ticks_used) {
  const Result<host::ProcessStat> stat = read_stat(files_, pid);
  if (!stat) return false;
  if (!member.found) begin_member(member, *stat);
  // Another process by the same number.
  if (stat->start_ticks != member.first.start_ticks) return false;
  ticks_used =
      stat->user_ticks + stat->system_ticks - member.last.user_ticks - member.last.system_ticks;
  member.last = *stat;
  return true;
}

/// `dead` has children before their parents, so that a parent's parent hears of both.
void ProcessTree::bury(const std::vector<std::int64_t>& dead) {
  for (const std::int64_t pid : dead) {
    const Member member = members_[pid];
    members_.erase(pid);
    if (!member.found) continue;
    const CpuTicks used = cpu_of(member.last) - cpu_of(member.first) + member.reaped_unseen;
    gone_.user_ticks += used.user;
    gone_.system_ticks += used.system;
    gone_.block_io_ticks += member.last.block_io_ticks - member.first.block_io_ticks;
    add_growth(gone_counters_, member.first_counters, member.last_counters);
    const auto parent = members_.find(member.last.ppid);
    if (parent == members_.end()) continue;
    parent->second.reaped_members += cpu_of(member.last) + reaped_by(member.first) +
                                     member.reaped_members + member.reaped_unseen;
  }
}

void ProcessTree::add_unseen(Member& member) {
  const CpuTicks unseen = reaped_by(member.last) - reaped_by(member.first) - member.reaped_members -
                          member.reaped_unseen;
  const CpuTicks grown{std::max<std::int64_t>(unseen.user, 0),
                       std::max<std::int64_t>(unseen.system, 0)};
  member.reaped_unseen += grown;
  late_ += grown;
}

/// What was used before it was found is told over as many readings as lie between two listings, so
/// that it is no peak. Returns what is still to be told.
CpuTicks ProcessTree::pay_late() {
  const auto left = [this](std::int64_t ticks) {
    return ticks - (ticks + readings_per_listing_ - 1) / readings_per_listing_;
  };
  late_ = {left(late_.user), left(late_.system)};
  return late_;
}

TreeReadings ProcessTree::read() {
  if (readings_until_listing_ == 0) {
    refresh();
    readings_until_listing_ = readings_per_listing_;
  }
  --readings_until_listing_;
  TreeReadings sum;
  std::vector<std::int64_t> dead;
  std::vector<std::int64_t> living;
  for (const std::int64_t pid : parents_first_) {
    Member& member = members_[pid];
    std::int64_t ticks_used = 0;
    if (!read_member(pid, member, ticks_used)) {
      dead.push_back(pid);
      continue;
    }
    living.push_back(pid);
    sum.busiest_ticks = std::max(sum.busiest_ticks, ticks_used);
    ++sum.processes;
    sum.threads += member.last.threads;
    sum.resident_pages += member.last.resident_pages;
  }
  parents_first_ = std::move(living);
  bury({dead.rbegin(), dead.rend()});
  CpuTicks used{gone_.user_ticks, gone_.system_ticks};
  sum.block_io_ticks = gone_.block_io_ticks;
  for (auto& [pid, member] : members_) {
    add_unseen(member);
    used += cpu_of(member.last) - cpu_of(member.first) + member.reaped_unseen;
    sum.block_io_ticks += member.last.block_io_ticks - member.first.block_io_ticks;
  }
  const CpuTicks told = used - pay_late();
  sum.user_ticks = told.user;
  sum.system_ticks = told.system;
  return sum;
}

TreeCounters ProcessTree::read_counters() {
  TreeCounters sum = gone_counters_;
  for (auto& [pid, member] : members_) {
    const TreeCounters now = read_counters_of(files_, pid);
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] && !member.first_counters[i]) {
        member.first_counters[i] = member.newborn ? 0 : *now[i];
      }
      if (now[i] || !member.last_counters[i]) member.last_counters[i] = now[i];
    }
    add_growth(sum, member.first_counters, member.last_counters);
  }
  return sum;
}

}  // namespace unstarve::observe
