#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "emulated/engine/operation.h"

namespace unstarve::emulated {

/// What one process says of its use of one GPU. All zeros: free. A process that was killed leaves
/// its slot behind; who sees that the pid is gone counts it as free.
struct GpuUse {
  std::atomic<std::int32_t> pid{0};
  std::atomic<std::uint32_t> unused{0};
  std::atomic<std::uint64_t> memory_bytes{0};  // its context and all that it allocated
  std::atomic<std::int64_t> busy_until_ns{0};  // CLOCK_MONOTONIC; it has work up to then at least
};

/// Sums over all processes, those that ended among them.
struct GpuTotals {
  std::atomic<std::uint64_t> small_reads{0};  // copies of at most 16 bytes to the host: of zeros
  std::atomic<std::uint64_t> kernels{0};
  std::atomic<std::uint64_t> copies{0};
  std::atomic<std::int64_t> kernel_ns{0};           // modelled, of all kernels
  std::atomic<std::int64_t> recorded_kernel_ns{0};  // of those that a recorded table knew
  std::atomic<std::int64_t>
      priced_ns[kPricesMax]{};                 // of all kernels, on the kinds of the settings
  std::atomic<std::int64_t> first_work_ns{0};  // CLOCK_MONOTONIC; 0: none yet
  std::atomic<std::int64_t> last_end_ns{0};
};

/// What a process found to be the job's step, where its time is known (engine/step_finder.h).
struct SharedStep {
  std::atomic<std::int64_t> factor_millionths{0};  // 0: none found yet; written last
  std::atomic<std::int64_t> kernels{0};
  std::atomic<std::int64_t> seen{0};
  std::atomic<std::int64_t> modelled_ns{0};
};

/// The file STATE/gpu-INDEX, mapped by every process that uses the GPU and by the command line.
/// Native byte order and alignment: it never leaves the machine.
struct SharedGpu {
  static constexpr std::uint64_t kMagic = 0x32'75'70'67'75'6d'65;  // "emugpu2"
  static constexpr int kUses = 256;
  std::atomic<std::uint64_t> magic{0};
  GpuTotals totals;
  SharedStep step;
  GpuUse uses[kUses];
};

/// One process's view of it. Without a state folder the process is alone with the GPU, and the same
/// numbers are kept in memory of its own.
/// Thread rule: any thread.
class SharedState {
 public:
  /// Never fails: what cannot be shared is kept for the process alone.
  static std::unique_ptr<SharedState> open(const std::string& folder, int machine_index);
  /// To look at it from outside; kNotFound: no process has used that GPU.
  static Result<const SharedGpu*> look(const std::string& folder, int machine_index);

  /// This process's own slot; it is taken at the first call.
  GpuUse& use();
  GpuTotals& totals() { return gpu_->totals; }
  SharedStep& step() { return gpu_->step; }
  /// Of the other processes that are alive.
  std::uint64_t memory_of_others() const;
  int others_busy(std::int64_t now_ns) const;
  /// The process ends.
  void leave();

 private:
  SharedState(SharedGpu* gpu, std::unique_ptr<SharedGpu> own) : own_(std::move(own)), gpu_(gpu) {}
  const std::unique_ptr<SharedGpu> own_;  // of a process alone
  SharedGpu* const gpu_;                  // mapped for ever, or own_
  std::atomic<GpuUse*> use_{nullptr};
  GpuUse spare_;  // where all slots are taken
};

/// Whether the process that wrote `use` is there and has not left.
bool is_alive(const GpuUse& use);

}  // namespace unstarve::emulated
