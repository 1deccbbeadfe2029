#pragma once

#include <cstdint>
#include <vector>

#include "emulated/engine/operation.h"

namespace unstarve::emulated {

/// What a graph does when it is launched: streams of operations that wait for places in each
/// other. It ends when all of them have. Unchanging once a schedule has seen it.
struct Program {
  struct Lane {
    int device = 0;
    std::vector<Operation> operations;
  };
  std::vector<Lane> lanes;
  std::vector<std::shared_ptr<Gate>> gates;  // by their numbers; each launch takes new ones
  std::uint32_t id = 0;
  int host_functions = 0;
  /// No launch takes less: the longest lane's own work.
  std::int64_t shortest_ns = 0;
};

}  // namespace unstarve::emulated
