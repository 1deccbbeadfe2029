#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace unstarve::emulated {

/// What an operation of a stream waits for that this GPU cannot know: the other GPUs of a
/// collective. The engine asks when everything before the operation has ended, and asks again (at
/// each look at the device) until it is told when the operation ends.
/// Thread rule: asked by one thread at a time, with the GPU's lock held: it must not call the GPU.
class Gate {
 public:
  virtual ~Gate() = default;

  /// The stream came to the operation at `reached_ns` (CLOCK_MONOTONIC; the same each time). When
  /// it began and ends, or nothing yet. An end in the past means: now.
  struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
  };
  virtual std::optional<Span> ask(std::int64_t reached_ns) = 0;

  /// A gate for one more run of the same operation: a captured graph's node asks for one at each
  /// launch of the graph, in the order of the launches, on the thread that launches.
  virtual std::shared_ptr<Gate> again() = 0;
};

}  // namespace unstarve::emulated
