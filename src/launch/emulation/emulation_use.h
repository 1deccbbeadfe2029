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

/// What a job does that may wait for ever for a value to change, as all are zeros.
enum class Loop : std::uint8_t {
  kNone,
  kOnlyReads,   // little but reading single values, for ten seconds
  kNoProgress,  // no step and no batch for a minute, but work for the GPU and values read from it
};

/// Notices such a job, once. Fed with what was counted, about once a second.
class LoopWatch {
 public:
  /// `progress`: steps and batches so far; without it nobody knows whether it makes any.
  Loop notices(const EmulationUse& use, std::int64_t now_ns,
               std::optional<std::int64_t> progress = {});

 private:
  struct Moment {
    EmulationUse use;
    std::int64_t t_ns = 0;
    std::optional<std::int64_t> progress;
  };
  bool reads_only(const Moment& now);
  bool gets_nowhere(const Moment& now);

  std::optional<Moment> before_;    // ten seconds ago, at most
  std::optional<Moment> progress_;  // when it was last seen to make progress
  bool said_ = false;
};

}  // namespace unstarve::launch
