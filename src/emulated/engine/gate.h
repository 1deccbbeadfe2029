#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace unstarve::emulated {

/// What the end of an operation depends on that this GPU cannot know: the other GPUs of a
/// collective. The operation begins when its stream has come to it; from then on the engine asks,
/// at each look at the device, until it is told when the operation ends.
/// Thread rule: asked by one thread at a time, with the GPU's lock held: it must not call the GPU.
class Gate {
 public:
  virtual ~Gate() = default;

  /// When the operation ends, which the stream came to at `reached_ns` (CLOCK_MONOTONIC, the same
  /// each time), or nothing yet. An end in the past means: now. Not asked again afterwards.
  virtual std::optional<std::int64_t> ask(std::int64_t reached_ns) = 0;

  /// A gate for one more run of the same operation: a captured graph's node, whose own gate is
  /// never asked, asks for one at each launch of the graph, on the thread that launches.
  virtual std::shared_ptr<Gate> again() = 0;
};

}  // namespace unstarve::emulated
