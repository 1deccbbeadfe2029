#include "compare/run/step_blocks.h"

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "job/device_time.h"
#include "job/rank/recorded.h"

namespace unstarve::compare {

namespace {

using trace::Interval;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

std::int64_t overlap_ns(const Interval& a, const Interval& b) {
  return std::max<std::int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns));
}

/// A block, and the time from its first step to its last.
struct Placed {
  StepBlock block;
  Interval when;
  std::vector<trace::Step> steps;
};

/// As many steps a block that there are 32 of them, but four steps at least where that leaves
/// eight.
std::size_t steps_of_block(std::size_t steps) {
  constexpr std::size_t kMostBlocks = 32;
  constexpr std::size_t kLeastBlocks = 8;
  constexpr std::size_t kLeastSteps = 4;
  const std::size_t at_least =
      std::min(kLeastSteps, std::max<std::size_t>(1, steps / kLeastBlocks));
  return std::max((steps + kMostBlocks - 1) / kMostBlocks, at_least);
}

std::vector<Placed> cut(const std::vector<trace::Step>& steps) {
  std::vector<Placed> blocks;
  const std::size_t length = steps_of_block(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool begins = i % length == 0 && (blocks.empty() || steps.size() - i >= length);
    if (begins) blocks.emplace_back();
    blocks.back().steps.push_back(steps[i]);
  }
  for (Placed& placed : blocks) {
    placed.when = {placed.steps.front().when.start_ns, placed.steps.back().when.end_ns};
  }
  return blocks;
}

void add_steps(const job::Rank& rank, const job::HostIndex& host, Placed& placed) {
  StepBlock& block = placed.block;
  for (const trace::Step& step : placed.steps) {
    const double wall_s = seconds(job::undisturbed_ns(rank, step.when));
    const double waits_s = seconds(job::covered_ns(rank.waits, step.when));
    const double blocked_s =
        seconds(job::covered_ns(host.blocking_calls({step.process, step.thread}), step.when));
    block.of(Amount::kSteps) += 1;
    block.of(Amount::kWall) += wall_s;
    block.of(Amount::kWaiting) += waits_s;
    block.of(Amount::kBlocked) += blocked_s;
    block.of(Amount::kOwnWork) += std::max(0.0, wall_s - waits_s - blocked_s);
    if (!step.samples) continue;
    block.of(Amount::kSamples) += static_cast<double>(*step.samples);
    block.of(Amount::kSampledWall) += wall_s;
  }
}

/// CPU time of the job's processes; a block of which less than half was read is left out.
void add_cpu(const std::vector<predict::CpuReading>& readings, Placed& placed) {
  double read_s = 0;
  double cpu_s = 0;
  for (const predict::CpuReading& reading : readings) {
    const double s = seconds(overlap_ns(reading.when, placed.when));
    read_s += s;
    cpu_s += s * reading.cpus;
  }
  const double all_s = seconds(placed.when.duration_ns());
  StepBlock& block = placed.block;
  if (read_s < all_s / 2) return;
  block.of(Amount::kJobCpu) += cpu_s * all_s / read_s;
  block.of(Amount::kJobCpuSteps) += block.of(Amount::kSteps);
  block.of(Amount::kJobCpuSamples) += block.of(Amount::kSamples);
}

/// The block that something which ends at `end_ns` belongs to; null: to none.
Placed* block_at(std::vector<Placed>& blocks, std::int64_t end_ns) {
  const auto after = std::upper_bound(
      blocks.begin(), blocks.end(), end_ns,
      [](std::int64_t at, const Placed& placed) { return at < placed.when.start_ns; });
  if (after == blocks.begin()) return nullptr;
  Placed& placed = *std::prev(after);
  return end_ns < placed.when.end_ns ? &placed : nullptr;
}

void add_fetches(const job::LoaderUse& loader, std::vector<Placed>& blocks) {
  for (const trace::Fetch& fetch : loader.fetches) {
    if (!fetch.cpu_ns || !fetch.samples) continue;
    Placed* const placed = block_at(blocks, fetch.when.end_ns);
    if (placed == nullptr) continue;
    StepBlock& block = placed->block;
    const double cpu_s = seconds(*fetch.cpu_ns);
    const double decode_s = seconds(fetch.decode_ns.value_or(0));
    const double collate_s = seconds(fetch.collate_ns.value_or(0));
    block.of(Amount::kFetched) += static_cast<double>(*fetch.samples);
    block.of(Amount::kFetchCpu) += cpu_s;
    block.of(Amount::kDecodeCpu) += decode_s;
    block.of(Amount::kCollateCpu) += collate_s;
    block.of(Amount::kTransformCpu) += std::max(0.0, cpu_s - decode_s - collate_s);
    block.of(Amount::kFetchOffCpu) += std::max(0.0, seconds(fetch.when.duration_ns()) - cpu_s);
  }
}

/// The same of unstarve's own loader, whose threads say what their stages take.
void add_stages(const trace::Timeline& timeline, const job::LoaderUse& loader,
                std::vector<Placed>& blocks) {
  for (const trace::StageTime& time : timeline.stages) {
    if (!loader.id || time.loader_id != *loader.id) continue;
    Placed* const placed = block_at(blocks, time.when.end_ns);
    if (placed == nullptr) continue;
    StepBlock& block = placed->block;
    const double spent_s = seconds(time.spent_ns);
    switch (time.stage) {
      case trace::LoaderStage::kDecode:
        block.of(Amount::kDecodeCpu) += spent_s;
        block.of(Amount::kFetched) += static_cast<double>(time.amount.value_or(0));
        break;
      case trace::LoaderStage::kTransform: block.of(Amount::kTransformCpu) += spent_s; break;
      case trace::LoaderStage::kRead: block.of(Amount::kFetchOffCpu) += spent_s; break;
      case trace::LoaderStage::kOnCpu: block.of(Amount::kFetchCpu) += spent_s; break;
      case trace::LoaderStage::kLoad:
      case trace::LoaderStage::kRoom:
      case trace::LoaderStage::kBatch: break;
    }
  }
}

/// What the device that the diagnosis speaks of did, as far as it was recorded.
void add_device(const diagnose::PartitionedJob& job, std::vector<Placed>& blocks) {
  const diagnose::DevicePartition* const worst = job.worst();
  if (worst == nullptr) return;
  const job::Rank& rank = job.rank();
  const auto work =
      std::find_if(job.job.devices().begin(), job.job.devices().end(),
                   [&](const job::DeviceWork& of) { return of.device == worst->device; });
  if (work == job.job.devices().end()) return;
  const std::vector<trace::DeviceOp>& ops = job.job.timeline().device_ops;
  std::int64_t longest_ns = 0;
  for (const std::uint32_t i : work->ops) {
    longest_ns = std::max(longest_ns, ops[i].end_ns - ops[i].start_ns);
  }
  // By start: no operation before it reaches so far.
  const auto first_reaching = [&](std::int64_t at_ns) {
    return std::partition_point(work->ops.begin(), work->ops.end(), [&](std::uint32_t i) {
      return ops[i].start_ns < at_ns - longest_ns;
    });
  };
  for (Placed& placed : blocks) {
    const std::vector<job::RecordedPart> parts = job::recorded_parts(rank, placed.when);
    if (parts.empty()) continue;
    std::vector<Interval> spans;
    for (const job::RecordedPart& part : parts) {
      spans.push_back(part.when);
      placed.block.of(Amount::kRecorded) += seconds(part.when.duration_ns());
    }
    placed.block.of(Amount::kRecordedSteps) += job::steps_in(placed.steps, parts);
    job::DeviceTimeSweep sweep(std::move(spans));
    for (auto i = first_reaching(placed.when.start_ns); i != work->ops.end(); ++i) {
      if (ops[*i].start_ns >= placed.when.end_ns) break;
      sweep.add(ops[*i]);
    }
    const job::DeviceTime time = sweep.time();
    placed.block.of(Amount::kGpuComputes) += seconds(time.compute_ns);
    placed.block.of(Amount::kGpuMoves) += seconds(time.busy_ns() - time.compute_ns);
  }
}

}  // namespace

std::string_view to_string(Amount amount) {
  constexpr std::array<std::string_view, kAmountCount> kNames = {
      "steps",         "wall",      "samples",        "sampled_wall",  "waiting",
      "blocked",       "own_work",  "job_cpu",        "job_cpu_steps", "job_cpu_samples",
      "fetched",       "fetch_cpu", "decode_cpu",     "collate_cpu",   "transform_cpu",
      "fetch_off_cpu", "recorded",  "recorded_steps", "gpu_computes",  "gpu_moves"};
  return kNames[static_cast<std::size_t>(amount)];
}

StepBlock& StepBlock::operator+=(const StepBlock& other) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += other.sums[i];
  return *this;
}

std::vector<StepBlock> step_blocks(const diagnose::PartitionedJob& job,
                                   const std::vector<predict::CpuReading>& job_cpu) {
  const job::Rank& rank = job.rank();
  std::vector<Placed> blocks = cut(rank.training_steps());
  for (Placed& placed : blocks) {
    add_steps(rank, job.job.host(), placed);
    add_cpu(job_cpu, placed);
  }
  if (const job::LoaderUse* const loader = rank.training_loader()) {
    const bool native = loader->config && loader->config->native;
    if (!native) add_fetches(*loader, blocks);
    if (native) add_stages(job.job.timeline(), *loader, blocks);
  }
  add_device(job, blocks);
  std::vector<StepBlock> sums;
  for (const Placed& placed : blocks) sums.push_back(placed.block);
  return sums;
}

StepBlock sum_of(const std::vector<StepBlock>& blocks) {
  StepBlock sum;
  for (const StepBlock& block : blocks) sum += block;
  return sum;
}

}  // namespace unstarve::compare
