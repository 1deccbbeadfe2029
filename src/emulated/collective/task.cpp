#include "emulated/collective/task.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulated/collective/meeting.h"

namespace unstarve::emulated {
namespace {

/// Whether each rank's part of the larger buffer is what was counted.
bool has_parts(Collective kind) {
  switch (kind) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce: return false;
    case Collective::kReduceScatter:
    case Collective::kAllGather:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter: return true;
  }
  return false;
}

/// `bytes` bytes from `offset` on, zeros where they are not known.
std::vector<std::byte> part_of(std::span<const std::byte> known, std::size_t offset,
                               std::size_t bytes) {
  std::vector<std::byte> part(bytes);
  if (offset >= known.size()) return part;
  const std::span<const std::byte> there = known.subspan(offset);
  std::copy_n(there.begin(), std::min(bytes, there.size()), part.begin());
  return part;
}

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::kAllReduce: return "emulated ncclAllReduce";
    case Collective::kReduceScatter: return "emulated ncclReduceScatter";
    case Collective::kAllGather: return "emulated ncclAllGather";
    case Collective::kBroadcast: return "emulated ncclBroadcast";
    case Collective::kReduce: return "emulated ncclReduce";
    case Collective::kAllToAll: return "emulated ncclAlltoAll";
    case Collective::kGather: return "emulated ncclGather";
    case Collective::kScatter: return "emulated ncclScatter";
  }
  return "emulated nccl";
}

/// The same part of what each rank brought, one behind the other.
std::vector<std::byte> gathered(const std::vector<Contribution>& brought, std::size_t offset,
                                std::size_t bytes) {
  std::vector<std::byte> all;
  for (const Contribution& contribution : brought) {
    const std::vector<std::byte> part = part_of(contribution.bytes, offset, bytes);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Before the bytes of each task.
struct PartHead {
  double factor = 1;
  std::uint64_t bytes = 0;
};

}  // namespace

std::size_t source_bytes(const CollectiveTask& task, int rank, int ranks) {
  const std::size_t all = task.bytes * static_cast<std::size_t>(ranks);
  switch (task.kind) {
    case Collective::kReduceScatter:
    case Collective::kAllToAll: return all;
    case Collective::kScatter: return rank == task.root ? all : 0;
    case Collective::kBroadcast: return rank == task.root ? task.bytes : 0;
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduce:
    case Collective::kGather: return task.bytes;
  }
  return 0;
}

std::size_t target_bytes(const CollectiveTask& task, int rank, int ranks) {
  const std::size_t all = task.bytes * static_cast<std::size_t>(ranks);
  switch (task.kind) {
    case Collective::kAllGather:
    case Collective::kAllToAll: return all;
    case Collective::kGather: return rank == task.root ? all : 0;
    case Collective::kReduce: return rank == task.root ? task.bytes : 0;
    case Collective::kAllReduce:
    case Collective::kReduceScatter:
    case Collective::kBroadcast:
    case Collective::kScatter: return task.bytes;
  }
  return 0;
}

std::int64_t duration_ns(const std::vector<CollectiveTask>& tasks, int ranks, const Link& link) {
  std::array<std::int64_t, kCollectives> bytes = {};
  std::array<bool, kCollectives> there = {};
  for (const CollectiveTask& task : tasks) {
    const auto kind = static_cast<std::size_t>(task.kind);
    there[kind] = true;
    bytes[kind] += static_cast<std::int64_t>(task.bytes) * (has_parts(task.kind) ? ranks : 1);
  }
  std::int64_t sum_ns = 0;
  for (std::size_t kind = 0; kind < kCollectives; ++kind) {
    if (!there[kind]) continue;
    sum_ns += ring_time_ns(static_cast<Collective>(kind), ranks, bytes[kind], link);
  }
  return sum_ns;
}

std::int64_t duration_ns(const std::vector<MessageTask>& tasks, const Link& link) {
  std::int64_t in = 0;
  std::int64_t out = 0;
  for (const MessageTask& task : tasks) {
    (task.receives ? in : out) += static_cast<std::int64_t>(task.bytes);
  }
  return tasks.empty() ? 0 : send_time_ns(std::max(in, out), link);
}

std::uint64_t digest_of(const std::vector<CollectiveTask>& tasks) {
  std::uint64_t digest = 14695981039346656037U;  // FNV-1a, a word at a time
  const auto add = [&digest](std::uint64_t word) { digest = (digest ^ word) * 1099511628211U; };
  for (const CollectiveTask& task : tasks) {
    add(static_cast<std::uint64_t>(task.kind));
    add(static_cast<std::uint64_t>(task.type));
    add(static_cast<std::uint64_t>(task.reduction));
    add(static_cast<std::uint64_t>(task.root));
    add(task.bytes);
  }
  return digest;
}

const char* name_of(const Tasks& tasks) {
  if (tasks.collectives.empty()) return "emulated ncclSendRecv";
  const Collective first = tasks.collectives.front().kind;
  const bool alike = std::all_of(tasks.collectives.begin(), tasks.collectives.end(),
                                 [&](const CollectiveTask& task) { return task.kind == first; });
  return alike && tasks.messages.empty() ? name_of(first) : "emulated ncclGroup";
}

std::vector<std::byte> result_of(const CollectiveTask& task, int rank,
                                 const std::vector<Contribution>& brought) {
  const std::size_t own = static_cast<std::size_t>(rank) * task.bytes;
  const std::span<const std::byte> root = brought[static_cast<std::size_t>(task.root)].bytes;
  switch (task.kind) {
    case Collective::kAllReduce:
    case Collective::kReduce: return reduce(task.reduction, task.type, brought, task.bytes);
    case Collective::kReduceScatter:
      return part_of(reduce(task.reduction, task.type, brought, task.bytes * brought.size()), own,
                     task.bytes);
    case Collective::kBroadcast: return part_of(root, 0, task.bytes);
    case Collective::kScatter: return part_of(root, own, task.bytes);
    case Collective::kAllGather:
    case Collective::kGather: return gathered(brought, 0, task.bytes);
    case Collective::kAllToAll: return gathered(brought, own, task.bytes);
  }
  return {};
}

std::vector<std::byte> known_bytes(const std::vector<KeptPiece>& known, std::size_t bytes) {
  std::size_t end = 0;
  for (const KeptPiece& piece : known) end = std::max(end, piece.at + piece.bytes);
  end = std::min(end, bytes);
  if (end > kCarriedBytes) return {};
  const std::vector<unsigned char> now = bytes_of(known, end);
  const std::span<const std::byte> view = std::as_bytes(std::span(now));
  return {view.begin(), view.end()};
}

std::vector<std::byte> pack(const std::vector<CollectiveTask>& tasks) {
  std::vector<std::byte> carried;
  for (const CollectiveTask& task : tasks) {
    std::size_t most = 0;
    for (const KeptPiece& piece : task.known) most = std::max(most, piece.at + piece.bytes);
    std::vector<std::byte> part = known_bytes(task.known, most);
    if (carried.size() + sizeof(PartHead) > kCarriedBytes) break;
    if (carried.size() + sizeof(PartHead) + part.size() > kCarriedBytes) part.clear();
    const PartHead head{.factor = task.factor, .bytes = part.size()};
    const std::span<const std::byte> head_bytes = std::as_bytes(std::span(&head, 1));
    carried.insert(carried.end(), head_bytes.begin(), head_bytes.end());
    carried.insert(carried.end(), part.begin(), part.end());
  }
  return carried;
}

std::vector<Contribution> unpack(std::span<const std::byte> carried, std::size_t tasks) {
  std::vector<Contribution> parts(tasks);
  for (Contribution& part : parts) {
    PartHead head;
    if (carried.size() < sizeof head) break;
    std::memcpy(&head, carried.data(), sizeof head);
    carried = carried.subspan(sizeof head);
    if (head.bytes > carried.size()) break;
    part = {.bytes = carried.first(head.bytes), .factor = head.factor};
    carried = carried.subspan(head.bytes);
  }
  return parts;
}

void fill(std::vector<unsigned char>& target, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(target.data(), bytes.data(), std::min(target.size(), bytes.size()));
}

}  // namespace unstarve::emulated
