#include "host/thread_look.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <string>

#include "host/procfs.h"
#include "host/text_scan.h"

namespace unstarve::host {

namespace {

// Calls that come with every architecture, then those that only older ones have.

constexpr auto kOnDescriptor = std::to_array<std::int64_t>({
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_sendfile,
    SYS_close,
});
constexpr auto kOnFiles = std::to_array<std::int64_t>({
    SYS_openat,
    SYS_fstat,
    SYS_statx,
    SYS_lseek,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_mmap,
    SYS_readahead,
    SYS_fsync,
    SYS_fadvise64,
    SYS_flock,
    SYS_newfstatat,
    SYS_munmap,
    SYS_io_getevents,
    425,  // io_uring_setup: C libraries of 2017 do not know these
    426,  // io_uring_enter
    437,  // openat2
    439,  // faccessat2
#ifdef SYS_open
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_getdents,
    SYS_readlink,
#endif
});
constexpr auto kOnNetwork = std::to_array<std::int64_t>({
    SYS_connect,
    SYS_accept,
    SYS_accept4,
    SYS_sendto,
    SYS_recvfrom,
    SYS_sendmsg,
    SYS_recvmsg,
    SYS_recvmmsg,
    SYS_ppoll,
    SYS_pselect6,
    SYS_epoll_pwait,
    441,  // epoll_pwait2
#ifdef SYS_poll
    SYS_poll,
    SYS_select,
    SYS_epoll_wait,
#endif
});
constexpr auto kSleeping = std::to_array<std::int64_t>({SYS_nanosleep, SYS_clock_nanosleep});
constexpr auto kLocking = std::to_array<std::int64_t>({SYS_futex, 449 /* futex_waitv */});

template <std::size_t N>
bool is_among(const std::array<std::int64_t, N>& calls, std::int64_t call) {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

struct FunctionPart {
  std::string_view part;
  ThreadDoing doing;
};
// Parts of names of the kernel's functions; the first that fits decides.
constexpr auto kFunctionParts = std::to_array<FunctionPart>({
    {"nanosleep", ThreadDoing::kSleep},     {"futex", ThreadDoing::kLock},
    {"pipe", ThreadDoing::kOther},          {"poll", ThreadDoing::kNetwork},
    {"sk_", ThreadDoing::kNetwork},         {"sock", ThreadDoing::kNetwork},
    {"inet_", ThreadDoing::kNetwork},       {"tcp_", ThreadDoing::kNetwork},
    {"unix_stream", ThreadDoing::kNetwork}, {"folio", ThreadDoing::kFile},
    {"page", ThreadDoing::kFile},           {"io_schedule", ThreadDoing::kFile},
    {"rpc_", ThreadDoing::kFile},           {"nfs", ThreadDoing::kFile},
    {"fuse", ThreadDoing::kFile},           {"request_wait_answer", ThreadDoing::kFile},
    {"cifs", ThreadDoing::kFile},           {"ceph", ThreadDoing::kFile},
    {"blk_", ThreadDoing::kFile},
});

std::string folder_of(std::int64_t pid) { return "/proc/" + std::to_string(pid); }

/// By the kernel's function, else by the state alone: what sleeps without a signal's reach waits
/// for storage, of other sleepers nothing is known.
Reading<ThreadDoing> look_without_call(const HostFiles& files, const std::string& task) {
  const Result<std::string> text = files.read(task + "/stat");
  const Result<ProcessStat> stat =
      text ? parse_process_stat(*text) : Result<ProcessStat>(forward_error(text));
  if (!stat) return WhyAbsent::kNotObserved;
  if (stat->state == 'R') return ThreadDoing::kOnCpu;
  const Result<std::string> function = files.read(task + "/wchan");
  if (function && !function->empty() && trim(*function) != "0") {
    return doing_in_kernel_function(trim(*function));
  }
  if (stat->state == 'D') return ThreadDoing::kFile;
  return WhyAbsent::kNoPermission;
}

}  // namespace

Result<BlockedCall> parse_blocked_call(std::string_view text) {
  std::string_view rest = trim(text);
  const std::string_view first = take_word(rest);
  if (first == "running") return BlockedCall{ThreadDoing::kOnCpu};
  const auto call = parse_number<std::int64_t>(first);
  if (!call) return fail(ErrorCode::kCorruptData, "a thread's call is not as proc(5) describes it");
  // Blocked outside of any call: a page is missing.
  if (*call == -1) return BlockedCall{ThreadDoing::kFile};
  if (is_among(kOnFiles, *call)) return BlockedCall{ThreadDoing::kFile};
  if (is_among(kOnNetwork, *call)) return BlockedCall{ThreadDoing::kNetwork};
  if (is_among(kSleeping, *call)) return BlockedCall{ThreadDoing::kSleep};
  if (is_among(kLocking, *call)) return BlockedCall{ThreadDoing::kLock};
  if (!is_among(kOnDescriptor, *call)) return BlockedCall{ThreadDoing::kOther};
  std::string_view argument = take_word(rest);
  if (argument.substr(0, 2) == "0x") argument.remove_prefix(2);
  std::uint32_t descriptor = 0;
  const auto [end, failed] =
      std::from_chars(argument.data(), argument.data() + argument.size(), descriptor, 16);
  const bool is_number = failed == std::errc() && end == argument.data() + argument.size();
  return BlockedCall{ThreadDoing::kFile, is_number ? std::int64_t{descriptor} : -1};
}

ThreadDoing doing_with_descriptor(std::string_view target) {
  if (target.substr(0, 7) == "socket:") return ThreadDoing::kNetwork;
  // Pipes, events, timers and whatever else is no file: "anon_inode:[eventfd]".
  return target.substr(0, 1) == "/" ? ThreadDoing::kFile : ThreadDoing::kOther;
}

ThreadDoing doing_in_kernel_function(std::string_view name) {
  for (const FunctionPart& known : kFunctionParts) {
    if (name.find(known.part) != std::string_view::npos) return known.doing;
  }
  return ThreadDoing::kOther;
}

Reading<ThreadDoing> look_at_thread(const HostFiles& files, std::int64_t pid, std::int64_t thread) {
  const std::string task = folder_of(pid) + "/task/" + std::to_string(thread);
  const Result<std::string> text = files.read(task + "/syscall");
  const Result<BlockedCall> call =
      text ? parse_blocked_call(*text) : Result<BlockedCall>(forward_error(text));
  if (!call) return look_without_call(files, task);
  if (call->descriptor < 0) return call->doing;
  const Result<std::string> target =
      files.link_target(folder_of(pid) + "/fd/" + std::to_string(call->descriptor));
  return target ? doing_with_descriptor(*target) : call->doing;
}

}  // namespace unstarve::host
