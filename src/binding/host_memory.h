#pragma once

#include <memory>

#include "feed/transfer/pinned_memory.h"

namespace unstarve::binding {

/// What Python holds of it: a loader shares the memory, not this object, so that its threads never
/// need the interpreter to let go.
struct HostMemory {
  std::shared_ptr<feed::PinnedMemory> memory;
};

}  // namespace unstarve::binding
