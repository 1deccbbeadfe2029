#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/reading.h"
#include "host/host_files.h"

namespace unstarve::host {

/// What a thread does at one moment.
enum class ThreadDoing : std::uint8_t {
  kOnCpu,    // runs, or is ready to
  kFile,     // in a call on a file: open, stat, read, io_uring_enter; or in a page fault
  kNetwork,  // in a call on a socket, or in poll and its like, which mostly wait for one
  kSleep,    // nanosleep
  kLock,     // futex
  kOther,    // pipes, children, devices
};
inline constexpr std::size_t kThreadDoings = 6;

/// What /proc/PID/task/TID/syscall says: `running`, or the number of a call and its arguments.
struct BlockedCall {
  ThreadDoing doing = ThreadDoing::kOther;
  /// Of a call whose descriptor tells files from sockets: read and its like. Else -1.
  std::int64_t descriptor = -1;
};
Result<BlockedCall> parse_blocked_call(std::string_view text);

/// What a link in /proc/PID/fd leads to: a path, `socket:[4711]`, `pipe:[4711]`.
ThreadDoing doing_with_descriptor(std::string_view target);

/// What /proc/PID/task/TID/wchan names, the kernel's function in which the thread sleeps; kOther
/// where the name tells nothing.
ThreadDoing doing_in_kernel_function(std::string_view name);

/// One look at a thread from outside. Three files at most, mostly one. Where the system does not
/// let us see the call, the kernel's function and the thread's state have to do. Absent:
/// kNotObserved where there is no such thread (any more), kNoPermission where nothing of the above
/// may be read.
Reading<ThreadDoing> look_at_thread(const HostFiles& files, std::int64_t pid, std::int64_t thread);

}  // namespace unstarve::host
