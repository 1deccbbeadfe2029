#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "emulated/engine/fifo.h"
#include "emulated/engine/operation.h"
#include "emulated/engine/program.h"

namespace unstarve::emulated {

/// How a stream is ordered with the legacy default stream of its device.
enum class LaneOrder : std::uint8_t {
  kLegacy,    // it is that stream: orders with all kBlocking ones, both ways
  kBlocking,  // made without cudaStreamNonBlocking
  kFree,
};

/// What ended, in the order of the ends.
struct Ended {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  LaneId lane = 0;
  int device = 0;
  Activity activity;
};

/// A host function whose turn has come. Whoever called it says so with host_function_returned().
struct DueHostFunction {
  std::uint64_t id = 0;
  HostFunction host;
};

/// When everything happens on the devices of one process: their streams, in order each, simulated
/// from event to event. It has no clock; time goes on by advance() alone, and what a call is told
/// to be now may not lie before what an earlier one was told.
///
/// Kernels of several streams run together while their shares of the device sum up to at most 1,
/// else all of them are slowed in proportion. Each device has one copy engine for each direction,
/// which takes copies in the order in which they became ready. Priorities of streams are ignored.
///
///   schedule.enqueue(lane, {.duration_ns = 1000, .earliest_ns = now_ns}, now_ns);
///   schedule.advance(now_ns + 500);
///   schedule.done(lane, schedule.enqueued(lane));  // false
///
/// Thread rule: one thread at a time; the owner locks.
class Schedule {
 public:
  explicit Schedule(int devices);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule();

  LaneId add_lane(int device, LaneOrder order);
  /// The stream is gone as far as the program is concerned; what it was given still happens.
  void release_lane(LaneId lane);

  /// Puts an operation at the end of a stream, behind whatever the legacy default stream's rules
  /// make it wait for.
  void enqueue(LaneId lane, const Operation& operation);
  /// An event's place after all that `lane` was given.
  std::shared_ptr<Mark> mark(LaneId lane, std::int64_t earliest_ns);
  /// What `lane` is given from now on waits for `mark`.
  void wait(LaneId lane, const Mark& mark);

  void advance(std::int64_t now_ns);

  std::uint64_t enqueued(LaneId lane) const { return lanes_[lane].enqueued; }
  std::uint64_t pending(LaneId lane) const;
  LaneOrder order(LaneId lane) const { return lanes_[lane].order; }
  bool done(LaneId lane, std::uint64_t position) const { return lanes_[lane].ended >= position; }
  /// The first `position` operations of `lane` have not ended before this; never late, mostly
  /// early where streams share a device or wait for each other.
  std::int64_t earliest_end_ns(LaneId lane, std::uint64_t position) const;
  /// Lanes of a device on which something is to be done, in no order.
  std::vector<LaneId> busy_lanes(int device) const;
  bool idle() const { return active_.empty(); }
  bool idle(int device) const;

  /// A factor of every kernel's and fill's duration that begins from now on, in graphs as well.
  void set_scale(int device, double scale) { devices_[index(device)].scale = scale; }
  /// How much slower kernels run because other processes use the device as well: 1 + their number.
  void set_others(int device, int processes) { devices_[index(device)].others = processes; }

  const std::vector<Ended>& ended() const { return ended_; }
  void clear_ended() { ended_.clear(); }
  std::vector<DueHostFunction> take_due();
  bool has_due() const { return !due_.empty(); }
  void host_function_returned(std::uint64_t id);
  /// When advance() will find a change, if nothing is added: INT64_MAX: never by itself.
  std::int64_t next_change_ns() const;

 private:
  struct GraphRun;
  /// A sequence of operations that is being worked off: a stream, or a lane of a launched graph.
  struct Track {
    LaneId lane = 0;  // the stream, or the one that the graph was launched into
    int device = 0;
    GraphRun* graph = nullptr;  // nullptr: the stream itself
    std::size_t cursor = 0;     // in a graph's lane
    bool active = false;        // listed in active_
    bool running = false;
    bool open_ended = false;  // a host function, gate or graph: ends when it is told to
    /// When it began to wait for a place or for a copy engine; INT64_MIN: it does not.
    std::int64_t waits_since_ns = INT64_MIN;
    std::int64_t start_ns = 0;
    std::int64_t chain_start_ns = 0;  // of the first part of what is recorded as one
    std::int64_t last_end_ns = INT64_MIN / 2;
    double remaining_ns = 0;
    std::uint64_t host_function = 0;
    std::shared_ptr<Gate> gate;  // of the operation that runs
  };
  struct GraphRun {
    std::shared_ptr<const Program> program;
    std::vector<Track> tracks;
    std::size_t unfinished = 0;
    Track* parent = nullptr;
    std::uint32_t correlation = 0;  // of the launch
    std::shared_ptr<const std::vector<std::shared_ptr<Gate>>> gates;
  };
  struct Lane {
    int device = 0;
    LaneOrder order = LaneOrder::kFree;
    bool released = false;
    std::uint64_t enqueued = 0;
    std::uint64_t ended = 0;
    std::int64_t work_ns = 0;            // of all that was ever enqueued
    std::uint64_t default_waits_to = 0;  // the legacy stream waits up to here already
    std::uint64_t waits_default_to = 0;  // and this stream up to here of the legacy one
    Fifo<Operation> queue;
    Track track;
  };
  struct Device {
    LaneId legacy = 0;
    bool has_legacy = false;
    int others = 0;
    Track* copying[3] = {nullptr, nullptr, nullptr};
    double rate = 1;
    double scale = 1;
  };

  static std::size_t index(int device) { return static_cast<std::size_t>(device); }
  static std::size_t copy_index(Engine engine);
  const Operation* head(const Track& track) const;
  bool place_reached(const Track& track, const Operation& wait) const;
  std::int64_t ready_at(const Track& track, const Operation& operation) const;
  void order_with_default(LaneId lane);
  void push(LaneId lane, Operation operation);
  void ask_gates();
  bool start_ready();
  bool start(Track& track);
  void run(Track& track, const Operation& operation);
  void start_graph(Track& track, const Operation& operation);
  void start_copies();
  void start_copy(Device& device, Engine engine);
  void set_rates();
  void progress(std::int64_t to_ns);
  void retire_finished();
  void retire(Track& track);
  void note_end(Track& track, const Operation& operation);
  void activate(Track& track);
  void drop_finished();
  std::int64_t change_of(const Track& track) const;
  std::int64_t earliest_end_ns(LaneId lane, std::uint64_t position, int depth) const;

  std::deque<Lane> lanes_;  // stays where it is: tracks are pointed at
  std::vector<LaneId> free_lanes_;
  std::vector<Device> devices_;
  std::vector<Track*> active_;
  std::vector<std::unique_ptr<GraphRun>> graphs_;
  std::vector<Ended> ended_;
  std::vector<DueHostFunction> due_;
  bool some_finished_ = false;
  int open_gates_ = 0;
  std::uint64_t last_host_function_ = 0;
  std::int64_t time_ns_ = INT64_MIN / 2;
};

}  // namespace unstarve::emulated
