#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "emulated/collective/member.h"
#include "emulated/nccl/nccl_abi.h"
#include "emulated/process/gpu.h"

namespace unstarve::emulated::nccl {

/// A reduction as a program names it, with the factor that it may carry.
struct Operator {
  Reduction reduction = Reduction::kSum;
  double factor = 1;
};

/// One rank of a communicator: what an ncclComm_t points to. It takes its seat when it is made,
/// and is ready when all ranks have.
/// Thread rule: any thread. Held by its handle and by whoever is at work with it.
class Communicator {
 public:
  /// `id`: the same for all ranks, of letters and digits.
  static Result open(const std::string& id, const Seat& seat, Gpu* gpu, bool blocks,
                     std::shared_ptr<Communicator>* out);

  /// By an ncclComm_t; nullptr: there is none.
  static std::shared_ptr<Communicator> find(const void* handle);
  /// Gives it a handle, which lives until drop().
  static void* keep(const std::shared_ptr<Communicator>& communicator);
  static void drop(const void* handle);

  /// kInProgress: not all ranks are here yet. An error stays.
  Result state();
  /// Keeps the calling thread until it is ready or failed, or somebody aborts it.
  Result wait_until_ready();
  bool blocks() const { return blocks_; }

  int rank() const { return member_->meeting().seat().rank; }
  int ranks() const { return member_->meeting().seat().ranks; }
  const std::string& id() const { return id_; }
  Gpu* gpu() const { return gpu_; }
  Member& member() { return *member_; }

  /// Puts what was called into the stream, in the order of the calls of this rank.
  Result submit(Stream* stream, Tasks tasks);
  void abort();
  /// Keeps the calling thread until all that was submitted has ended.
  void wait_until_idle();

  /// Says two words to every rank, without waiting; the number of this round of words.
  using Words = std::array<std::int64_t, 2>;
  std::uint64_t say(const Words& own);
  /// What every rank said, in the order of the ranks; waits for them. Nothing: aborted.
  std::optional<std::vector<Words>> hear(std::uint64_t round);
  /// So many communicators were made of this one.
  std::uint64_t next_child() { return children_.fetch_add(1); }

  /// A reduction of the program's own; its ncclRedOp_t.
  std::int32_t add_operator(const Operator& made);
  bool remove_operator(std::int32_t number);
  std::optional<Operator> find_operator(std::int32_t number);

 private:
  Communicator(std::string id, Gpu* gpu, bool blocks, std::shared_ptr<Member> member);
  Result check_seats();

  const std::string id_;
  Gpu* const gpu_;
  const bool blocks_;
  const std::shared_ptr<Member> member_;
  std::atomic<Result> failed_{Result::kSuccess};
  std::atomic<bool> ready_{false};
  std::atomic<std::uint64_t> children_{0};

  Mutex calls_;  // held while an operation is numbered and put into its stream
  std::uint64_t rounds_ UNSTARVE_GUARDED_BY(calls_) = 0;
  Mutex operators_mutex_;
  std::vector<std::optional<Operator>> operators_ UNSTARVE_GUARDED_BY(operators_mutex_);
};

/// What ncclGetLastError gives: the last failure that a thread of this process saw, in words.
void set_last_error(std::string text);
const char* last_error();
Result fail(Result result, std::string text);

}  // namespace unstarve::emulated::nccl
