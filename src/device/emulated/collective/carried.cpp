#include "device/emulated/collective/carried.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/emulated/collective/meeting.h"

namespace unstarve::emulated {
namespace {

/// Before the bytes of each task.
struct PartHead {
  double factor = 1;
  std::uint64_t bytes = 0;
};

}  // namespace

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
