#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "emulated/collective/meeting.h"
#include "emulated/collective/task.h"
#include "emulated/engine/gate.h"

namespace unstarve::emulated {

/// One rank at work: numbers what it does, in the order of its calls, and knows when that ends.
///
///   std::shared_ptr<Gate> gate = member->begin(tasks);
///   gpu->run_gated(stream, name_of(tasks), gate);
///
/// What one rank does runs one after the other, on whatever streams. A collective begins when all
/// ranks' streams have come to it and ends for all at the same moment. A message begins when both
/// ranks have come to it; one of at most kCarriedBytes leaves its sender at once, as NCCL's buffers
/// do.
/// Thread rule: any thread; who must have two calls of begin() in an order locks around them.
class Member : public std::enable_shared_from_this<Member> {
 public:
  struct Timing {
    Link link;
    std::int64_t fixed_ns = 0;  // of each operation, whatever it moves
  };
  Member(std::shared_ptr<Meeting> meeting, const Timing& timing);

  /// Has `tell` called whenever something is begun, a graph's operations too. Before the first.
  void when_begun(std::function<void()> tell) { tell_begun_ = std::move(tell); }

  /// For an operation that runs once, from now on. Every gate of this kind must be run.
  std::shared_ptr<Gate> begin(Tasks tasks);
  /// For the node of a graph; its runs bring and deliver nothing but zeros.
  std::shared_ptr<Gate> pattern(Tasks tasks);

  /// Whatever has not ended ends when it is next looked at, and what comes ends at once.
  void abort();
  bool aborted() const;
  /// Why the ranks' operations do not fit together; what came to that hangs until abort().
  std::optional<std::string> failure() const;
  /// Everything that was begun has ended, or will by itself.
  bool idle() const;

  const Meeting& meeting() const { return *meeting_; }
  Meeting& meeting() { return *meeting_; }

 private:
  class TaskGate;
  /// The numbers that an operation's parts have among the ranks.
  struct Numbers {
    std::uint64_t order = 0;  // of all that this rank does
    std::uint64_t collective = 0;
    std::vector<std::uint64_t> messages;
  };

  Numbers number(const Tasks& tasks);
  /// When an operation may begin that its stream came to at `reached_ns`; nothing: not its turn.
  std::optional<std::int64_t> turn(std::uint64_t order, std::int64_t reached_ns) const;
  void end(std::uint64_t order, std::int64_t end_ns);
  void fail(std::string why);

  const std::shared_ptr<Meeting> meeting_;
  const Timing timing_;
  std::function<void()> tell_begun_;

  mutable Mutex mutex_;
  bool aborted_ UNSTARVE_GUARDED_BY(mutex_) = false;
  std::optional<std::string> failure_ UNSTARVE_GUARDED_BY(mutex_);
  std::uint64_t begun_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t ended_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::int64_t last_end_ns_ UNSTARVE_GUARDED_BY(mutex_) = INT64_MIN;
  std::uint64_t collectives_ UNSTARVE_GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> sends_ UNSTARVE_GUARDED_BY(mutex_);     // to each rank
  std::vector<std::uint64_t> receives_ UNSTARVE_GUARDED_BY(mutex_);  // from each rank
};

}  // namespace unstarve::emulated
