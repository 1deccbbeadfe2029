#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "diagnose/partition/partition.h"
#include "predict/measurements.h"

namespace unstarve::compare {

/// What is added up over a block of steps; times in seconds. What was not recorded of a block adds
/// nothing, so that the sum that it is divided by lacks that block as well.
enum class Amount : std::uint8_t {
  kSteps,
  kWall,           // of the steps
  kSamples,        // of steps that said theirs
  kSampledWall,    // of those steps
  kWaiting,        // the training thread inside its loaders
  kBlocked,        // in calls that wait for the device
  kOwnWork,        // the rest
  kJobCpu,         // CPU time of the job's processes
  kJobCpuSteps,    // of the blocks beside which somebody read it
  kJobCpuSamples,  // of those, where steps said them
  kFetched,        // samples in recorded fetches
  kFetchCpu,       // their CPU time: the three below together
  kDecodeCpu,
  kCollateCpu,
  kTransformCpu,   // outside of decoding and collating
  kFetchOffCpu,    // waiting for storage, locks, the network
  kRecorded,       // wall time in which the device was recorded
  kRecordedSteps,  // of steps, whole and in part
  kGpuComputes,    // a kernel that is not communication, or a memset
  kGpuMoves,       // a copy or communication, and no such kernel
};
inline constexpr std::size_t kAmountCount = static_cast<std::size_t>(Amount::kGpuMoves) + 1;

/// "wall", "job_cpu", ...: as a baseline names it.
std::string_view to_string(Amount amount);

/// Steps that follow each other.
struct StepBlock {
  std::array<double, kAmountCount> sums{};

  double of(Amount amount) const { return sums[static_cast<std::size_t>(amount)]; }
  double& of(Amount amount) { return sums[static_cast<std::size_t>(amount)]; }
  StepBlock& operator+=(const StepBlock& other);
};

/// The training steps of the rank that a diagnosis speaks of, in blocks of as many steps each
/// (the last may have more). Steps that follow each other depend on each other: loaders give
/// batches in bursts. Blocks of four steps and more keep most of that inside.
std::vector<StepBlock> step_blocks(const diagnose::PartitionedJob& job,
                                   const std::vector<predict::CpuReading>& job_cpu);

StepBlock sum_of(const std::vector<StepBlock>& blocks);

}  // namespace unstarve::compare
