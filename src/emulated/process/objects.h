#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/duration/kernel_class.h"
#include "emulated/engine/capture.h"
#include "emulated/engine/operation.h"
#include "emulated/process/gpu.h"

/// What lies behind the handles that programs hold. All fields are guarded by the machine's mutex,
/// where no comment says otherwise.
namespace unstarve::emulated {

/// What work does to the bytes that are known (engine/kept_bytes.h), when it is given to a stream:
/// of the work in a graph, when that is launched.
struct DataEffect {
  enum class Kind : std::uint8_t { kCopy, kFill, kRan };
  Kind kind = Kind::kRan;
  int gpu = 0;
  Copy2d copy;
  int value = 0;  // of a fill; it fills `copy.target`
};

/// A capture that goes on, shared by the streams that take part and the events recorded in them.
struct Capturing {
  explicit Capturing(std::uint32_t number) : id(number), nodes(number) {}
  const std::uint32_t id;
  Capture nodes;
  std::vector<DataEffect> effects;
  std::vector<Stream*> streams;  // those that take part
  Graph* graph = nullptr;        // what it will be
  Stream* origin = nullptr;      // that began it
  int mode = 0;                  // cudaStreamCaptureMode: 0 global, 1 thread local, 2 relaxed
  int thread = 0;                // that began it
  bool invalidated = false;
  bool ended = false;
};

class Stream {
 public:
  int gpu = 0;
  LaneId lane = 0;
  std::uint64_t id = 0;
  int priority = 0;
  bool legacy = false;
  bool per_thread = false;
  bool blocks_on_default = true;
  std::shared_ptr<Capturing> capturing;
  std::uint32_t capture_lane = 0;
};

class Event {
 public:
  int gpu = 0;
  bool timing = true;
  bool blocking_sync = false;
  std::shared_ptr<Mark> mark;  // nullptr: not recorded, or in a capture
  std::shared_ptr<Capturing> capturing;
  Capture::Place place;
};

class Graph {
 public:
  std::uint32_t id = 0;
  std::size_t nodes = 0;
  std::shared_ptr<const Program> program;  // nullptr: it is still being captured, or empty
  std::vector<DataEffect> effects;
};

class GraphExec {
 public:
  bool launched = false;
  LaneId last_lane = 0;  // where it was launched last: two launches of it never overlap
  std::uint64_t last_position = 0;
  std::shared_ptr<const Program> program;
  std::vector<DataEffect> effects;
};

/// Not guarded: all but `classified` never change.
struct Kernel {
  const char* name = nullptr;
  mutable std::atomic<const KernelClass*> classified{nullptr};  // at its first launch
};

}  // namespace unstarve::emulated
