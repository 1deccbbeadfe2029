#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_ring.h"
#include "base/result.h"
#include "device/emulated/board_model.h"
#include "device/emulated/profile.h"
#include "device/emulated/training_model.h"

namespace unstarve::device::emulated {

/// What a driver would have measured, computed from an emulated GPU's activity records: one value
/// per window of 1/6 s, the shortest that NVIDIA's drivers use.
///
///   auto history = ActivityHistory::open(path);
///   history->follow(clock.now_ns());
///   history->latest().utilization_ratio;
///
/// Thread rule: one thread at a time.
class ActivityHistory {
 public:
  struct Window {
    std::int64_t end_ns = 0;
    double utilization_ratio = 0;
    double memory_controller_ratio = 0;
    BoardModel::State board;
    double pcie_rx_bytes = 0;  // cumulative: to the device
    double pcie_tx_bytes = 0;  // cumulative: from it
  };

  static constexpr std::int64_t kWindowNs = 1'000'000'000 / 6;
  /// A window is closed this long after its end, so that records still being written are in it.
  static constexpr std::int64_t kGraceNs = 20'000'000;
  static constexpr std::size_t kWindowsKept = 120;

  /// Follows the ring at `path`. Not an emulated GPU's: kNotSupported or kCorruptData.
  static Result<ActivityHistory> open(const std::string& path);

  /// Reads new records and closes the windows that are over at `now_ns`.
  Status follow(std::int64_t now_ns);
  /// The device ran nothing after this, whatever the records say: its process is gone.
  void end_at(std::int64_t ns);

  const Profile& profile() const { return profile_; }
  std::int32_t index() const { return index_; }
  std::uint64_t writer_pid() const { return ring_.writer_pid(); }
  /// Idle, until the first window is over.
  const Window& latest() const { return windows_.back(); }
  const std::deque<Window>& windows() const { return windows_; }
  std::uint64_t memory_used_bytes() const { return memory_used_bytes_; }
  std::uint64_t lost_records() const { return ring_.lost(); }

 private:
  enum class Kind { kKernel, kUpload, kDownload };
  struct Operation {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    Kind kind = Kind::kKernel;
    double power_load = 0;
    double dram_ratio = 0;
    double bytes = 0;
  };

  ActivityHistory(RingReader ring, Profile profile, std::int32_t index,
                  std::vector<KernelKind> kinds);
  void take(std::span<const std::byte> record);
  void add(const Operation& operation);
  void skip_to(std::int64_t ns);
  void close_window(std::int64_t start_ns, std::int64_t end_ns);

  RingReader ring_;
  Profile profile_;
  std::int32_t index_ = 0;
  std::vector<KernelKind> kinds_;  // by the ring's own numbering
  BoardModel board_;
  std::vector<Operation> pending_;  // not wholly inside closed windows
  std::deque<Window> windows_;
  std::uint64_t memory_used_bytes_ = 0;
  std::int64_t ended_ns_ = INT64_MAX;
};

}  // namespace unstarve::device::emulated
