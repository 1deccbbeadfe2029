#include <atomic>
#include <limits>

#include "allocations/counted_allocator.h"

namespace unstarve::test {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

std::atomic<std::uint64_t> g_allocations{0};
// The allocations that fail: from the first to before the last.
std::atomic<std::uint64_t> g_fail_from{kNever};
std::atomic<std::uint64_t> g_fail_before{kNever};
std::atomic<bool> g_failed{false};
thread_local bool t_ignored = false;

}  // namespace

std::uint64_t allocations() { return g_allocations.load(std::memory_order_relaxed); }
void ignore_this_thread() { t_ignored = true; }

void fail_allocations(std::uint64_t nth, bool for_ever) {
  const std::uint64_t from = g_allocations.load() + nth - 1;
  g_failed = false;
  g_fail_before = for_ever ? kNever : from + 1;
  g_fail_from = from;
}

bool end_failures() {
  g_fail_from = kNever;
  return g_failed;
}

bool refuse_allocation() {
  if (t_ignored) return false;
  const std::uint64_t number = g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (number < g_fail_from.load(std::memory_order_relaxed)) return false;
  if (number >= g_fail_before.load(std::memory_order_relaxed)) return false;
  g_failed = true;
  return true;
}

}  // namespace unstarve::test
