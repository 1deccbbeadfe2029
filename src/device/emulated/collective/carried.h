#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/emulated/collective/reduction.h"
#include "device/emulated/collective/task.h"
#include "device/emulated/engine/kept_bytes.h"

/// The few bytes that a rank brings to a collective, as they lie in the memory of a meeting.
namespace unstarve::emulated {

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
