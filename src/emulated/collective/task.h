#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulated/collective/reduction.h"
#include "emulated/collective/ring_time.h"
#include "emulated/engine/kept_bytes.h"

namespace unstarve::emulated {

/// One collective as it was called, by one rank.
struct CollectiveTask {
  Collective kind = Collective::kAllReduce;
  Element type = Element::kI8;
  Reduction reduction = Reduction::kSum;
  double factor = 1;  // of a scaled sum, this rank's
  int root = 0;
  std::size_t bytes = 0;  // NCCL's count: of a rank's part where there are parts, else of all
  std::vector<KeptPiece> known = {};  // of the source
  LateBytes result = nullptr;         // where the target is small enough to be known
};

/// A send or a receive.
struct MessageTask {
  bool receives = false;
  int peer = 0;
  std::size_t bytes = 0;
  std::vector<KeptPiece> known = {};
  LateBytes result = nullptr;
};

/// What one rank does in one go, on one communicator and one stream: a call of NCCL's, or what was
/// called between ncclGroupStart and ncclGroupEnd.
struct Tasks {
  std::vector<CollectiveTask> collectives = {};
  std::vector<MessageTask> messages = {};
  bool empty() const { return collectives.empty() && messages.empty(); }
};

/// Bytes of a task that a rank brings, and that it gets; 0 where it only gives or only gets.
std::size_t source_bytes(const CollectiveTask& task, int rank, int ranks);
std::size_t target_bytes(const CollectiveTask& task, int rank, int ranks);

/// The time that they take together: one after the other, but the steps of one kind only once.
std::int64_t duration_ns(const std::vector<CollectiveTask>& tasks, int ranks, const Link& link);
/// Of messages that go at the same time: as many bytes as go out or come in, if those are more.
std::int64_t duration_ns(const std::vector<MessageTask>& tasks, const Link& link);

/// What all ranks must agree on.
std::uint64_t digest_of(const std::vector<CollectiveTask>& tasks);

/// What a profiler shows of them.
const char* name_of(const Tasks& tasks);

/// What `rank` gets, of what each rank brought (empty where nothing is known).
std::vector<std::byte> result_of(const CollectiveTask& task, int rank,
                                 const std::vector<Contribution>& brought);

// The few bytes that a rank brings to a collective, as they lie in the memory of a meeting.

/// What is known of `bytes` bytes; empty where nothing is, or where they are too many to be
/// carried.
std::vector<std::byte> known_bytes(const std::vector<KeptPiece>& known, std::size_t bytes);

/// What a rank knows of its tasks' sources, with its factors; tasks that find no more room bring
/// nothing.
std::vector<std::byte> pack(const std::vector<CollectiveTask>& tasks);
/// What a rank brought, task by task. Bytes that are not as pack() makes them bring nothing.
std::vector<Contribution> unpack(std::span<const std::byte> carried, std::size_t tasks);

/// As many of `bytes` as there is room for.
void fill(std::vector<unsigned char>& target, std::span<const std::byte> bytes);

}  // namespace unstarve::emulated
