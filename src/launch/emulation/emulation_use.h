#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulated/process/shared_state.h"
#include "launch/emulation/emulation.h"

namespace unstarve::launch {

/// A function of NVIDIA's that a job called and that is not emulated.
struct MissingFunction {
  std::string library;  // "libcusparse.so.12"
  std::string function;
};

/// The step that was found in what a job gives its GPU, where its time is known
/// (emulated/engine/step_finder.h).
struct EmulatedStep {
  std::int64_t kernels = 0;
  std::int64_t seen = 0;  // so many times one after the other
  double modelled_s = 0;  // its length without the factor
  double factor = 1;      // of all durations from then on
};

/// What a job's processes did on the emulated GPUs, as they counted it themselves.
struct EmulationUse {
  int gpus_used = 0;
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;
  std::uint64_t small_reads = 0;        // copies of at most 16 bytes to the host
  std::int64_t kernel_ns = 0;           // modelled, of all kernels
  std::int64_t recorded_kernel_ns = 0;  // of those that a recorded table knew
  std::array<std::int64_t, emulated::kPricesMax> priced_ns = {};  // on EmulationOptions::priced
  std::int64_t span_ns = 0;               // of each GPU used: from its first work to its last end
  std::optional<EmulatedStep> step = {};  // of the first GPU on which it was found
};

/// Follows what is counted while a job runs and after it.
/// Thread rule: one thread.
class UseReader {
 public:
  /// `emulation` outlives it.
  explicit UseReader(const Emulation& emulation)
      : emulation_(emulation), gpus_(static_cast<std::size_t>(emulation.gpus())) {}

  EmulationUse read();
  /// Each function once, as it was called first; at most some hundred.
  std::vector<MissingFunction> missing() const;

 private:
  const Emulation& emulation_;
  std::vector<const emulated::SharedGpu*> gpus_;  // mapped as long as the process lives
};

/// Notices a job that does little but read single values, which are all zeros: if it waits for one
/// to change, it never ends. Fed with what was counted, about once a second.
class LoopWatch {
 public:
  /// True once, when that has gone on for ten seconds.
  bool notices(const EmulationUse& use, std::int64_t now_ns);

 private:
  std::optional<EmulationUse> before_;
  std::int64_t since_ns_ = 0;
  bool said_ = false;
};

}  // namespace unstarve::launch
