#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "trace/timeline/timeline.h"

namespace unstarve::job {

struct ThreadKey {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  auto operator<=>(const ThreadKey&) const = default;
};

/// The blocking calls of one thread: sorted, none inside another, so that starts and ends both
/// rise.
using BlockingCalls = std::vector<trace::Interval>;

/// The host side of a Timeline, arranged for the questions that idle gaps ask.
///
///   HostIndex index(timeline);
///   const trace::HostCall* launch = index.launch_of(op);   // nullptr: not recorded
///
/// Reads the Timeline it was made from, which must outlive it. Immutable, so any thread may ask.
class HostIndex {
 public:
  explicit HostIndex(const trace::Timeline& timeline);

  /// The call that put `op` on its stream: the last one with its correlation that had begun when
  /// the operation started (runtime and driver records may share one, processes may collide).
  const trace::HostCall* launch_of(const trace::DeviceOp& op) const;

  /// Whether a device operation of this correlation is recorded.
  bool has_operation(std::int64_t correlation) const;

  /// Calls of a thread that waited for the device: synchronisations, and copies that came back
  /// only after the copy itself had ended (`.item()` to pageable memory waits inside
  /// cudaMemcpyAsync). Empty when there are none.
  const BlockingCalls& blocking_calls(ThreadKey thread) const;

 private:
  struct Launch {
    std::int64_t correlation;
    std::int64_t start_ns;
    std::uint32_t call;  // index into Timeline::host_calls
  };

  void index_launches();
  void index_operations();
  void index_blocking_calls();

  const trace::Timeline& timeline_;
  std::vector<Launch> launches_;               // by correlation, then by start
  std::vector<std::int64_t> op_correlations_;  // sorted
  std::map<ThreadKey, BlockingCalls> blocking_;
};

/// The first of `calls` that ends after `instant`.
BlockingCalls::const_iterator first_ending_after(const BlockingCalls& calls, std::int64_t instant);

/// When the one of `calls` ended that covers `instant`; nothing where none does, or where it had
/// not ended by `deadline`.
std::optional<std::int64_t> blocked_over(const BlockingCalls& calls, std::int64_t instant,
                                         std::int64_t deadline);

}  // namespace unstarve::job
