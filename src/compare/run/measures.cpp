#include "compare/run/measures.h"

#include <algorithm>
#include <array>

namespace unstarve::compare {

namespace {

constexpr double kMs = 1e3;
constexpr double kUs = 1e6;

constexpr std::array<Measure, 16> kMeasures = {{
    {"step_time", "time of a step", Unit::kMicroseconds, Amount::kWall, Amount::kSteps, kUs, true},
    {"sample_time", "time of a sample", Unit::kMicroseconds, Amount::kSampledWall, Amount::kSamples,
     kUs, true},
    {"samples_per_s", "samples a second", Unit::kPerSecond, Amount::kSamples, Amount::kSampledWall,
     1, false},
    {"au", "accelerator utilisation", Unit::kRatio, Amount::kGpuComputes, Amount::kRecorded, 1,
     false},
    {"input_wait", "waiting for data", Unit::kRatio, Amount::kWaiting, Amount::kWall, 1, true},
    {"blocked", "blocked on the GPU", Unit::kRatio, Amount::kBlocked, Amount::kWall, 1, true},
    {"host_ms_per_step", "the host's own work a step", Unit::kMilliseconds, Amount::kOwnWork,
     Amount::kSteps, kMs, true},
    {"gpu_ms_per_step", "the GPU's own work a step", Unit::kMilliseconds, Amount::kGpuComputes,
     Amount::kRecordedSteps, kMs, true},
    {"copy_ms_per_step", "copies beside no such work", Unit::kMilliseconds, Amount::kGpuMoves,
     Amount::kRecordedSteps, kMs, true},
    {"cpu_ms_per_step", "CPU time a step", Unit::kMilliseconds, Amount::kJobCpu,
     Amount::kJobCpuSteps, kMs, true},
    {"cpu_ms_per_sample", "CPU time a sample", Unit::kMilliseconds, Amount::kJobCpu,
     Amount::kJobCpuSamples, kMs, true},
    {"fetch_cpu_ms_per_sample", "CPU of loading a sample", Unit::kMilliseconds, Amount::kFetchCpu,
     Amount::kFetched, kMs, true},
    {"decode_cpu_ms_per_sample", "decoding", Unit::kMilliseconds, Amount::kDecodeCpu,
     Amount::kFetched, kMs, true},
    {"transform_cpu_ms_per_sample", "transforming and other Python", Unit::kMilliseconds,
     Amount::kTransformCpu, Amount::kFetched, kMs, true},
    {"collate_cpu_ms_per_sample", "collating", Unit::kMilliseconds, Amount::kCollateCpu,
     Amount::kFetched, kMs, true},
    {"fetch_off_cpu_ms_per_sample", "waiting in fetches", Unit::kMilliseconds, Amount::kFetchOffCpu,
     Amount::kFetched, kMs, true},
}};

constexpr std::array<RunMeasure, 3> kRunMeasures = {{
    {"host_memory_bytes", "the job's memory, the most", Unit::kBytes, true},
    {"gpu_memory_bytes", "the GPU's memory, the most", Unit::kBytes, true},
    {"gpu_j_per_step", "the GPU's energy a step", Unit::kJoules, true},
}};

}  // namespace

std::span<const Measure> step_measures() { return kMeasures; }

const Measure* measure_named(std::string_view id) {
  const auto found = std::find_if(kMeasures.begin(), kMeasures.end(),
                                  [&](const Measure& measure) { return measure.id == id; });
  return found == kMeasures.end() ? nullptr : &*found;
}

std::span<const RunMeasure> run_measures() { return kRunMeasures; }

}  // namespace unstarve::compare
