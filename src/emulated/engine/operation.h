#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/engine/gate.h"

namespace unstarve::emulated {

struct Program;

/// Numbers a Schedule gives its streams.
using LaneId = std::uint32_t;

/// The part of a device that an operation keeps busy, or what else a stream has to do.
enum class Engine : std::uint8_t {
  kCompute,
  kCopyToDevice,
  kCopyToHost,
  kCopyToPeer,
  kMark,          // takes no time; an event's place in the stream
  kWait,          // until a place in another stream is reached
  kHostFunction,  // until somebody says that it returned
  kGate,          // until others say when it ends: gate.h
  kGraph,         // a program of operations, until all of them have ended
};

/// How many kinds of GPU a kernel can be priced for at once: what it would take there, ns.
inline constexpr std::size_t kPricesMax = 12;
using Prices = std::array<float, kPricesMax>;

/// What an operation was, for the records; the schedule itself does not look at it.
struct Activity {
  enum class Kind : std::uint8_t { kNone, kKernel, kCopy, kFill };
  Kind kind = Kind::kNone;
  std::uint8_t copy_kind = 0;      // cupti::CopyKind
  std::uint8_t source_memory = 0;  // cupti::MemoryKind
  std::uint8_t target_memory = 0;  // cupti::MemoryKind
  bool asynchronous = true;        // the call did not wait for it
  bool recorded = false;           // a kernel whose duration was recorded on a real GPU
  std::int64_t issued_ns = 0;
  std::uint32_t value = 0;     // of a fill
  const char* name = nullptr;  // of a kernel; lives for ever
  std::array<std::uint32_t, 3> grid = {0, 0, 0};
  std::array<std::uint32_t, 3> block = {0, 0, 0};
  std::uint32_t shared_memory_bytes = 0;
  std::uint32_t correlation = 0;
  std::uint64_t bytes = 0;
  std::uint64_t graph_node = 0;  // 0: in no graph
  std::uint32_t graph = 0;
  Prices prices = {};  // of a kernel, on the kinds that the settings ask for
};

/// An event's place in a stream, and when it was reached.
struct Mark {
  LaneId lane = 0;
  std::uint64_t position = 0;  // so many operations of the stream have ended then
  std::int64_t done_ns = -1;   // not yet
};

/// A function of the program's that a stream calls.
struct HostFunction {
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

/// What becomes visible to the host when an operation has ended.
class Landing {
 public:
  virtual ~Landing() = default;
  virtual void land() = 0;
};

/// One thing that a stream does. Plain data, copied into the stream's queue.
struct Operation {
  Engine engine = Engine::kCompute;
  bool continues = false;        // a later part of what the operation before it began: one record
  float share = 1;               // of the device's multiprocessors, while it runs: 0..1
  std::int64_t duration_ns = 0;  // with the device to itself
  std::int64_t gap_ns = 0;       // at the least, after the operation before it
  std::int64_t earliest_ns = 0;
  Activity activity = {};

  LaneId wait_lane = 0;  // of kWait; within a program the number of its lane
  std::uint64_t wait_position = 0;
  std::shared_ptr<Mark> mark = {};              // of kMark; may be null
  std::shared_ptr<const Program> program = {};  // of kGraph
  HostFunction host = {};                       // of kHostFunction
  std::shared_ptr<Landing> landing = {};        // may be null
  std::shared_ptr<Gate> gate = {};              // of kGate
  std::uint32_t gate_number = 0;                // of kGate in a program, counted through it
  /// Of kGraph: this launch's gates, by their numbers.
  std::shared_ptr<const std::vector<std::shared_ptr<Gate>>> gates = {};

  /// The schedule's own: how long the stream works up to the end of this operation, since it began.
  std::int64_t work_until_ns = 0;
};

}  // namespace unstarve::emulated
