#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ring/mapped_ring.h"
#include "emulated/board/board_history.h"

namespace unstarve::emulated {

/// One emulated GPU seen from outside the processes that use it: follows their rings
/// (FOLDER/gpu-INDEX-PID.ring) as they appear. Who looks late finds the device as it had been seen
/// all the time: of what is not in the rings any more it is assumed that it was like the rest.
/// Thread rule: one thread at a time.
class DeviceWatch {
 public:
  DeviceWatch(const Profile& profile, int index, std::string rings_folder, std::int64_t now_ns);

  /// Brings the history to `now_ns`.
  void follow(std::int64_t now_ns);
  const BoardHistory& history() const { return history_; }

 private:
  struct Followed {
    RingReader ring;
    bool ended = false;  // its process is gone, and all was read
  };
  struct Read {
    std::vector<std::pair<std::int64_t, BoardOperation>> operations;  // with their process
    std::int64_t earliest_ns = INT64_MAX;
    bool lost = false;  // there was more before
  };
  void find_rings();
  Read read_rings();
  void start(const Read& read, std::int64_t now_ns);

  const Profile profile_;
  const int index_;
  const std::string folder_;
  bool started_ = false;
  BoardHistory history_;
  std::map<std::string, Followed> rings_;  // by path
};

}  // namespace unstarve::emulated
