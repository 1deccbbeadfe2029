#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "emulated/board/board_model.h"
#include "emulated/board/operation.h"
#include "emulated/profile/profile.h"

namespace unstarve::emulated {

/// What a driver would have measured of one GPU, computed from what all processes ran on it: one
/// value per window of 1/6 s, the shortest that NVIDIA's drivers use.
///
///   BoardHistory history(profile, started_ns);
///   history.add(pid, operation);
///   history.close_until(now_ns);
///   history.latest().utilization_ratio;
///
/// Thread rule: one thread at a time.
class BoardHistory {
 public:
  struct ProcessShare {
    double kernel_ratio = 0;  // of the window, how long a kernel of this process ran
    double dram_ratio = 0;
  };
  struct Window {
    std::int64_t end_ns = 0;
    double utilization_ratio = 0;  // a kernel of any process ran
    double memory_controller_ratio = 0;
    BoardModel::State board;
    double pcie_rx_bytes = 0;                        // cumulative: to the device
    double pcie_tx_bytes = 0;                        // cumulative: from it
    std::map<std::int64_t, ProcessShare> processes;  // by pid
  };

  static constexpr std::int64_t kWindowNs = 1'000'000'000 / 6;
  /// A window is closed this long after its end, so that records still being written are in it.
  static constexpr std::int64_t kGraceNs = 80'000'000;
  static constexpr std::size_t kWindowsKept = 120;

  /// `load` is what the board bore for `load_s` seconds until `start_ns`; before that it was idle.
  BoardHistory(const Profile& profile, std::int64_t start_ns, double load_s = 0, double load = 0);

  /// What lies in windows that are closed already is lost.
  void add(std::int64_t pid, const BoardOperation& operation);
  /// Closes the windows that are over at `now_ns`.
  void close_until(std::int64_t now_ns);

  const Window& latest() const { return windows_.back(); }
  const std::deque<Window>& windows() const { return windows_; }

 private:
  struct Span {
    std::int64_t pid = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  /// What is known of a window that is not closed yet.
  struct Open {
    double load_ns = 0;
    double rx_bytes = 0;
    double tx_bytes = 0;
    std::vector<Span> kernels;
    std::map<std::int64_t, double> dram_ns;  // by pid
  };

  std::int64_t open_from() const { return windows_.back().end_ns; }
  void add_part(Open& open, std::int64_t pid, const BoardOperation& operation, Span part);
  void close(Open& open);
  void skip_to(std::int64_t ns);

  BoardModel board_;
  std::deque<Open> open_;  // from open_from() on
  std::deque<Window> windows_;
};

}  // namespace unstarve::emulated
