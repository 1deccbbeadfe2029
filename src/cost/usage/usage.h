#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/reading.h"
#include "cost/usage/energy.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/partition/partition.h"
#include "trace/run_reader.h"

namespace unstarve::cost {

/// The parts of a run, in order: until the first step that counts, from there to the end of the
/// last step (what a partition is of), and what comes behind.
enum class Phase : std::uint8_t { kStartUp, kTraining, kEnding };
inline constexpr std::size_t kPhaseCount = 3;
inline constexpr std::array<Phase, kPhaseCount> kAllPhases = {Phase::kStartUp, Phase::kTraining,
                                                              Phase::kEnding};
template <class T>
using ByPhase = std::array<T, kPhaseCount>;

/// A GPU that the job trains on.
struct UsedGpu {
  std::int64_t index = 0;  // the driver's number of it
  std::string name;
  bool emulated = false;
  bool split = false;         // by MIG: the job has a part of it, and its energy is the whole GPU's
  ByPhase<double> seconds{};  // its own: another rank may end earlier
  ByPhase<Energy> energy{};
  bool by_power = false;  // the energy, since it has no counter
  /// Shares of the training, by diagnose::Cause; absent: its activity was not recorded.
  Reading<std::array<double, diagnose::kCauseCount>> shares = {};
};

/// What a job took of its machine.
struct Usage {
  ByPhase<double> seconds{};  // wall time, of the training from its first GPU to its last
  std::vector<UsedGpu> gpus;  // none: it trains on the CPU
  std::size_t ranks = 1;      // processes that train, on this machine
  /// Of the processors, the job's part by CPU time: its share of all CPU time that the machine was
  /// busy for.
  ByPhase<Energy> cpu{};
};

/// Of a run. `diagnosis` is that of `job`.
Usage usage_of(const trace::RunReader& run, const diagnose::PartitionedJob& job,
               const diagnose::Diagnosis& diagnosis);

/// Of a recording that nobody measured power beside: all of it is training.
Usage usage_of(const diagnose::PartitionedJob& job, const diagnose::Diagnosis& diagnosis);

/// Adds the GPUs of another rank of the same job, whose training takes as long.
void add_rank(const Usage& rank, Usage& job);

}  // namespace unstarve::cost
