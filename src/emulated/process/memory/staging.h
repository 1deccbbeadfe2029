#pragma once

#include <array>
#include <cstddef>

#include "emulated/process/gpu.h"
#include "emulated/process/machine.h"

namespace unstarve::emulated {

/// The driver's pinned buffers, through which it takes copies from and to pageable memory: two of
/// them, so that the thread fills one while the device reads the other. The bytes are copied for
/// real, by the calling thread, and so contend with all else for the memory's bandwidth.
class Staging {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;

  /// The `bytes` bytes of `copy` from byte `from` on, rows one behind the other: out of the
  /// program's memory into a buffer.
  void read(const Copy2d& copy, std::size_t from, std::size_t bytes);
  /// The same from a buffer, which holds zeros, into the program's memory.
  void write(const Copy2d& copy, std::size_t from, std::size_t bytes);
  /// What was just given to `stream` reads a buffer: waits until the other one is free.
  void wait_for_buffer(Machine& machine, LaneId lane);

 private:
  Machine::Place before_;
  bool has_before_ = false;
};

}  // namespace unstarve::emulated
