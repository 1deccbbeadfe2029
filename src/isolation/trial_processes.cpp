#include "isolation/trial_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>

#include "isolation/read_all.h"

namespace unstarve::isolation {

namespace {

namespace fs = std::filesystem;

constexpr auto kTimeToGo = std::chrono::seconds(5);
constexpr auto kLookAgain = std::chrono::milliseconds(5);
constexpr int kLooksWithout = 3;
constexpr const char* kRunVariable = "UNSTARVE_RUN_DIR=";

bool are_same(const struct stat& first, const struct stat& other) {
  return first.st_dev == other.st_dev && first.st_ino == other.st_ino;
}

bool started_with(pid_t pid, const std::string& entry) {
  const std::string environment = read_all(fmt::format("/proc/{}/environ", pid));
  for (std::size_t at = environment.find(entry); at != std::string::npos;
       at = environment.find(entry, at + 1)) {
    const std::size_t end = at + entry.size();
    const bool begins = at == 0 || environment[at - 1] == '\0';
    if (begins && (end == environment.size() || environment[end] == '\0')) return true;
  }
  return false;
}

/// None where the process is gone, or is none that we may look at.
std::optional<struct stat> namespace_of(pid_t pid) {
  struct stat found = {};
  if (::stat(fmt::format("/proc/{}/ns/mnt", pid).c_str(), &found) != 0) return std::nullopt;
  return found;
}

/// Never the one that we live in: half the machine does.
std::optional<struct stat> namespace_of(const TrialMarks& marks) {
  struct stat marked = {};
  if (!marks.mount_namespace || ::fstat(marks.mount_namespace.get(), &marked) != 0) {
    return std::nullopt;
  }
  const auto own = namespace_of(::getpid());
  return own && are_same(*own, marked) ? std::nullopt : std::optional(marked);
}

bool is_dead(pid_t pid) {
  const std::string text = read_all(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_ends = text.rfind(')');
  return name_ends == std::string::npos || name_ends + 2 >= text.size() ||
         text[name_ends + 2] == 'Z' || text[name_ends + 2] == 'X';
}

}  // namespace

FileDescriptor open_mount_namespace(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/ns/mnt", pid);
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::vector<pid_t> processes_of(const TrialMarks& marks) {
  // What we share with a process is no mark of a trial: half the machine has it.
  const bool has_group = marks.group > 1 && marks.group != ::getpgrp();
  const auto marked = namespace_of(marks);
  std::vector<pid_t> found;
  std::error_code failed;
  for (fs::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ec != std::errc() || read.ptr != name.data() + name.size()) continue;
    if (pid == ::getpid() || is_dead(pid)) continue;
    const auto its = marked ? namespace_of(pid) : std::nullopt;
    const bool is_ours =
        (has_group && ::getpgid(pid) == marks.group && pid != marks.group) ||
        (its && are_same(*its, *marked)) ||
        (!marks.run_dir.empty() && started_with(pid, kRunVariable + marks.run_dir));
    if (is_ours) found.push_back(pid);
  }
  return found;
}

std::size_t kill_processes_of(const TrialMarks& marks) {
  std::set<pid_t> killed;
  const auto deadline = std::chrono::steady_clock::now() + kTimeToGo;
  // One that becomes another program just now shows none of its marks for a moment.
  for (int looks_without = 0; looks_without < kLooksWithout;) {
    std::vector<pid_t> left = processes_of(marks);
    for (const pid_t pid : left) {
      ::kill(pid, SIGKILL);
      killed.insert(pid);
    }
    // One that dies has lost its marks before it is gone.
    const bool all_gone = std::all_of(killed.begin(), killed.end(), is_dead);
    looks_without = left.empty() && all_gone ? looks_without + 1 : 0;
    if (std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(kLookAgain);
  }
  return killed.size();
}

}  // namespace unstarve::isolation
