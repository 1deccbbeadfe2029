#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/result.h"

namespace unstarve::feed {

/// One piece of work on one of several threads.
struct WorkItem {
  std::uint64_t index = 0;
  bool on_calling_thread = false;   // which alone may tell others of progress
  const std::atomic<bool>& failed;  // another item has: what takes long may end early
};
using WorkOnItem = std::function<Status(const WorkItem& item)>;

/// Does items 0 .. count - 1, in any order, on up to `threads` threads, the calling one among them.
/// `make_work` gives each thread something of its own. Returns the first error, after all threads
/// have ended; with fewer threads than asked for it takes longer, and nothing else.
Status run_parallel(std::uint64_t count, int threads, const std::function<WorkOnItem()>& make_work);

}  // namespace unstarve::feed
