#pragma once

#include <functional>

namespace unstarve {

/// Why a child process could not become what it was forked for: plain memory, which goes through a
/// pipe. `os_errno` 0: it could.
struct ChildFailure {
  int os_errno = 0;
  char what[240] = {};  // on which object; cut where it is longer
};

/// What a child does between its fork and its command. It has one thread, and other threads of the
/// process that was forked may have held locks: no allocation, no locks, system calls only.
using ChildEntry = std::function<ChildFailure()>;

}  // namespace unstarve
