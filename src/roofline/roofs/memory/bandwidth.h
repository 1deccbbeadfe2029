#pragma once

#include <cstdint>
#include <vector>

#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// How large STREAM's arrays are made here.
struct StreamSize {
  std::uint64_t array_bytes = 0;   // of each of the three
  std::uint64_t caches_bytes = 0;  // last-level caches of the CPUs, together
  bool large_enough = false;       // four times those, as STREAM wants it
};
/// Four times the last-level caches, at least 64 MiB, if all three take at most half of the memory
/// that is free.
StreamSize stream_size(std::uint64_t caches_bytes, std::uint64_t free_bytes);

/// The roofs `memory.{copy,scale,add,triad}.N_threads`: bytes a second as STREAM counts them, best
/// of plain and of non-temporal stores, by 1, 2, 4, ... and all CPUs that this process may use.
void measure_memory(const Machine& machine, std::int64_t duration_ns, Session& session);

}  // namespace unstarve::roofline
