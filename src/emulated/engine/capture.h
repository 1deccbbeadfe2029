#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "emulated/engine/program.h"

namespace unstarve::emulated {

/// A stream capture: what streams are given while they capture becomes a Program, with a lane for
/// each stream that takes part.
/// Thread rule: one thread at a time; the owner locks.
class Capture {
 public:
  /// How much of each lane has happened before some point.
  using Before = std::vector<std::uint64_t>;
  /// What an event stands for that was recorded in a capturing stream.
  struct Place {
    std::uint32_t lane = 0;
    std::uint64_t position = 0;
    Before before;
  };

  explicit Capture(std::uint32_t id) { program_.id = id; }

  /// A stream takes part from now on.
  std::uint32_t add_lane(int device);
  void add(std::uint32_t lane, Operation operation);
  Place place(std::uint32_t lane) const;
  void wait(std::uint32_t lane, const Place& place);
  /// All that was captured happens before what `lane` would be given next.
  bool joined_in(std::uint32_t lane) const;
  std::size_t node_count() const { return nodes_; }
  Program finish() &&;

 private:
  Program program_;
  std::vector<Before> before_;            // of each lane, as far as it has got
  std::vector<std::uint64_t> last_node_;  // the position behind each lane's last operation
  std::size_t nodes_ = 0;
};

}  // namespace unstarve::emulated
