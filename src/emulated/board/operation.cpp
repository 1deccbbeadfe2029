#include "emulated/board/operation.h"

#include <algorithm>

#include "base/cupti_ring.h"

namespace unstarve::emulated {

namespace {

// Assumed, not measured: training at full occupancy draws nine tenths of what a board can draw, a
// kernel of one block still clocks the whole board up, a copy costs little.
constexpr double kKernelLoadMin = 0.25;
constexpr double kKernelLoadMax = 0.9;
constexpr double kKernelDramMax = 0.5;
constexpr double kCopyLoad = 0.08;
constexpr double kCopyDram = 0.15;
// Longer than any operation that makes sense: a damaged record cannot make us integrate over years.
constexpr std::int64_t kOperationNsMax = 600'000'000'000;

/// The part of the device's threads that a kernel fills; a library's work says no grid: all.
double fill_of(const cupti::Kernel& kernel, const Profile& profile) {
  double threads = 1;
  for (int i = 0; i < 3; ++i) {
    threads *= std::max(1, kernel.grid[i]);
    threads *= std::max(1, kernel.block[i]);
  }
  const double room =
      static_cast<double>(profile.multiprocessors) * profile.max_threads_per_multiprocessor;
  if (threads <= 1 || room <= 0) return 1;
  return std::min(1.0, threads / room);
}

template <class Record>
std::optional<BoardOperation> spanned(const Record& record) {
  BoardOperation operation;
  operation.start_ns = static_cast<std::int64_t>(record.start_ns);
  operation.end_ns = static_cast<std::int64_t>(record.end_ns);
  const bool sound = operation.start_ns >= 0 && operation.end_ns > operation.start_ns &&
                     operation.end_ns - operation.start_ns < kOperationNsMax;
  if (!sound) return std::nullopt;
  return operation;
}

}  // namespace

std::optional<BoardOperation> board_operation(std::span<const std::byte> record,
                                              const Profile& profile) {
  if (const auto kernel = cupti::from_ring_record<cupti::Kernel>(record)) {
    auto operation = spanned(*kernel);
    if (!operation) return std::nullopt;
    const double fill = fill_of(*kernel, profile);
    operation->power_load = kKernelLoadMin + (kKernelLoadMax - kKernelLoadMin) * fill;
    operation->dram_ratio = kKernelDramMax * fill;
    return operation;
  }
  if (const auto copy = cupti::from_ring_record<cupti::Memcpy>(record)) {
    auto operation = spanned(*copy);
    if (!operation) return std::nullopt;
    const auto direction = static_cast<cupti::CopyKind>(copy->copy_kind);
    operation->kind = direction == cupti::CopyKind::kHostToDevice ? BoardOperation::Kind::kUpload
                      : direction == cupti::CopyKind::kDeviceToHost
                          ? BoardOperation::Kind::kDownload
                          : BoardOperation::Kind::kOther;
    operation->power_load = kCopyLoad;
    operation->dram_ratio = kCopyDram;
    operation->bytes = static_cast<double>(copy->bytes);
    return operation;
  }
  if (const auto fill = cupti::from_ring_record<cupti::Memset>(record)) {
    auto operation = spanned(*fill);
    if (!operation) return std::nullopt;
    operation->kind = BoardOperation::Kind::kOther;
    operation->power_load = kCopyLoad;
    operation->dram_ratio = kKernelDramMax;
    return operation;
  }
  return std::nullopt;
}

}  // namespace unstarve::emulated
