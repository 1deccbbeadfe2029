#include "examine/calibration/calibrate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "advise/host_verdict.h"
#include "advise/job_facts.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "base/units.h"
#include "diagnose/signals/conditions.h"
#include "examine/calibration/image_sample.h"
#include "examine/calibration/transforms/transform_words.h"
#include "feed/pack/pack_job.h"
#include "feed/pipeline/loader.h"
#include "roofline/roofs/core_scaling.h"

namespace unstarve::examine {

namespace {

using advise::Calibration;
using advise::LoaderCost;

constexpr int kCalibrationBatch = 16;
constexpr int kCalibrationPrefetch = 4;
constexpr double kCalibrationSeconds = 0.8;
// Memory that is given back, one after the other; no batch is larger than the bound.
constexpr int kFreeings = 10;
constexpr double kMostFreedBytes = 4e9;
constexpr std::size_t kSmallestPage = 4096;
// Cached and packed for the calibration: enough to outgrow the CPU's caches, copied in well under a
// second.
constexpr SampleBounds kSampleOfCopies = {256, 48 << 20};
// One number of workers tells of others; starting more takes longer than it says.
constexpr int kMostCalibratedWorkers = 8;
// ImageNet's, which nearly every script normalises with; others cost the same.
constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};

feed::TransformPlan transform_for(NativeOutput output) {
  feed::TransformPlan plan;
  plan.geometry.horizontal_flip_probability = 0.5;
  if (output == NativeOutput::kUint8) return plan;
  plan.output.type = feed::OutputPlan::Type::kFloat32;
  plan.output.layout = feed::OutputPlan::Layout::kNchw;
  plan.output.scale_to_unit = true;
  plan.output.mean = kMean;
  plan.output.deviation = kDeviation;
  return plan;
}

/// What is loaded.
struct Loaded {
  std::string data;
  feed::TransformPlan transform;
  std::string cache = {};
};

struct LoadRate {
  double samples_per_s = 0;
  double cpu_s_per_sample = 0;
};

/// Loads for a while with `threads` threads; the first batches, which start threads and fill
/// buffers, do not count.
Result<LoadRate> measure_loading(const Loaded& source, int threads) {
  feed::LoaderOptions options;
  options.root = source.data;
  options.transform = source.transform;
  options.cache_dir = source.cache;
  options.batch_size = kCalibrationBatch;
  options.threads = threads;
  options.prefetch_batches = kCalibrationPrefetch;
  options.on_error = feed::OnError::kSkip;
  auto loader = feed::Loader::open(options);
  if (!loader) return forward_error(loader);
  const SteadyClock clock;
  std::uint32_t epoch = 0;
  if (const Status begun = (*loader)->begin_epoch(epoch); !begun) return forward_error(begun);
  int warm_up_batches = 2 * threads + options.prefetch_batches;
  double samples = 0;
  std::int64_t from_ns = 0;
  double from_cpu_s = 0;
  while (true) {
    const auto next = (*loader)->next(std::chrono::seconds(10));
    if (!next) return forward_error(next);
    if (next->state == feed::NextState::kTimeout) {
      return fail(ErrorCode::kTimeout, "no batch of {} came within 10 s", source.data);
    }
    if (next->state == feed::NextState::kEnd) {
      if (const Status again = (*loader)->begin_epoch(++epoch); !again) return forward_error(again);
      continue;
    }
    if (warm_up_batches > 0) {
      --warm_up_batches;
      from_ns = clock.now_ns();
      from_cpu_s = process_cpu_s();
      continue;
    }
    samples += static_cast<double>(next->batch->count);
    const double elapsed_s = static_cast<double>(clock.now_ns() - from_ns) * kSecondsPerNs;
    if (elapsed_s > kCalibrationSeconds && samples > 0) {
      return LoadRate{samples / elapsed_s, (process_cpu_s() - from_cpu_s) / samples};
    }
  }
}

LoaderCost cost_of(const LoadRate& rate, const feed::TransformPlan& transform) {
  return {rate.cpu_s_per_sample, static_cast<double>(feed::image_bytes(transform))};
}

/// One thread on the folder, then all, for what each core after the first adds.
Status calibrate_folder(const std::string& image_folder, const feed::TransformPlan& transform,
                        Calibration& calibration) {
  const auto single_thread = measure_loading({image_folder, transform}, 1);
  if (!single_thread) return forward_error(single_thread);
  calibration.folder = cost_of(*single_thread, transform);
  if (calibration.threads == 1) return {};
  const auto all = measure_loading({image_folder, transform}, calibration.threads);
  if (!all) return forward_error(all);
  calibration.parallel_efficiency = (all->samples_per_s / single_thread->samples_per_s - 1) /
                                    static_cast<double>(calibration.threads - 1);
  return {};
}

/// One thread on `images` with a cache that holds them.
Status calibrate_cache(const std::string& images, const std::string& cache,
                       const feed::TransformPlan& transform, Calibration& calibration) {
  const auto filled = fill_cache(images, cache);
  if (!filled) return forward_error(filled);
  const auto single_thread = measure_loading({images, transform, cache}, 1);
  if (!single_thread) return forward_error(single_thread);
  calibration.cache = cost_of(*single_thread, transform);
  calibration.cache_fill_cpu_s = filled->cpu_s / static_cast<double>(filled->kept);
  return {};
}

/// One thread on shards of `images`.
Status calibrate_shards(const std::string& images, const std::string& shards,
                        Calibration& calibration) {
  feed::PackOptions options;
  options.source = images;
  options.target = shards;
  auto job = feed::PackJob::open(options);
  if (!job) return forward_error(job);
  const auto packed = job->run([](const feed::PackProgress&) {});
  if (!packed) return forward_error(packed);
  const feed::TransformPlan transform = transform_for(NativeOutput::kUint8);
  const auto single_thread = measure_loading({options.target, transform}, 1);
  if (!single_thread) return forward_error(single_thread);
  calibration.shards = cost_of(*single_thread, transform);
  return {};
}

/// What is read from copies: some of the images, in a folder that is taken away again.
Status calibrate_copies(const std::string& image_folder, const feed::TransformPlan& transform,
                        Calibration& calibration) {
  const auto scratch = ScratchFolder::make();
  if (!scratch) return forward_error(scratch);
  const std::string images = scratch->path() + "/images";
  const auto sample = link_some_images(image_folder, images, kSampleOfCopies);
  if (!sample) return forward_error(sample);
  const Status cache = calibrate_cache(images, scratch->path() + "/cache", transform, calibration);
  if (!cache) calibration.remarks.push_back("unstarve_cache: " + cache.error().message);
  const Status shards = calibrate_shards(images, scratch->path() + "/shards", calibration);
  if (!shards) calibration.remarks.push_back("unstarve_shards: " + shards.error().message);
  return {};
}

/// Seconds that this system takes to get memory of that size back from a process whose allocator
/// is libc's, as PyTorch's is: next to nothing for what the allocator keeps, the work of unmapping
/// every page for what it does not.
predict::Range measure_freeing(double bytes) {
  const SteadyClock clock;
  const auto size = static_cast<std::size_t>(std::clamp(bytes, 0.0, kMostFreedBytes));
  std::vector<double> freeing_s;
  for (int i = 0; i < kFreeings; ++i) {
    void* memory = std::malloc(size);
    if (memory == nullptr) return {0, 0};
    auto* const first = static_cast<volatile std::byte*>(memory);
    for (std::size_t at = 0; at < size; at += kSmallestPage) first[at] = std::byte{1};
    const std::int64_t from_ns = clock.now_ns();
    std::free(memory);
    const auto took_ns = static_cast<double>(clock.now_ns() - from_ns);
    // The first one teaches the allocator what size it is worth keeping.
    if (i > 0) freeing_s.push_back(took_ns * kSecondsPerNs);
  }
  return {quantile(freeing_s, 0.25), quantile(freeing_s, 0.75)};
}

/// Of those that the job copies to its device from pageable memory.
double largest_pageable_copy_bytes(const trace::Timeline& timeline) {
  double largest_bytes = 0;
  for (const trace::DeviceOp& op : timeline.device_ops) {
    if (op.kind != trace::DeviceOpKind::kCopy || op.source != trace::MemoryKind::kPageable ||
        op.direction != trace::CopyDirection::kHostToDevice) {
      continue;
    }
    largest_bytes = std::max(largest_bytes, static_cast<double>(op.bytes));
  }
  return largest_bytes;
}

/// What is done to a sample: what the job does, where it said so.
Result<feed::TransformPlan> transform_of(const trace::DataSet& data, NativeOutput output) {
  if (output == NativeOutput::kUint8 || data.transforms.empty()) return transform_for(output);
  return plan_of_transforms(data.transforms);
}

Calibration calibrate_with(const std::string& image_folder, const feed::TransformPlan& transform) {
  Calibration calibration;
  calibration.threads = feed::usable_cpu_count();
  const Status folder = calibrate_folder(image_folder, transform, calibration);
  if (!folder) {
    calibration.remarks.push_back("unstarve_loader: " + folder.error().message);
    return calibration;  // what cannot be read cannot be copied
  }
  const Status copies = calibrate_copies(image_folder, transform, calibration);
  if (!copies) {
    calibration.remarks.push_back("unstarve_cache, unstarve_shards: " + copies.error().message);
  }
  return calibration;
}

}  // namespace

Calibration calibrate_images(const std::string& image_folder, NativeOutput output) {
  return calibrate_with(image_folder, transform_for(output));
}

void predict_calibrated(Examination& examined) {
  Calibration calibration = calibrate_for(examined, NativeOutput::kFloat32);
  const bool of_workers = examined.advice.find_offered("more_workers") != nullptr;
  if (of_workers && !diagnose::cpus_are_taken(examined.diagnosis.signals)) {
    calibration.core_scaling = roofline::measure_core_scaling(feed::usable_cpu_count());
  }
  predict(examined, calibration);
  if (!calibration.cache) return;
  examined.remarks.push_back(fmt::format(
      "unstarve_cache is predicted from the second epoch on; in the first, which fills the cache, "
      "an image takes {:.2f} ms of CPU, {:.2f} ms without a cache",
      1e3 * calibration.cache_fill_cpu_s, 1e3 * calibration.folder->sample_cpu_s));
}

std::pair<std::string, std::string> worker_calibration_variable() {
  return {"UNSTARVE_CALIBRATE",
          fmt::format(R"({{"workers": {}, "seconds": 1.5}})",
                      std::min(feed::usable_cpu_count(), kMostCalibratedWorkers))};
}

bool calibration_helps(const Examination& examined) {
  return !advise::hardly_waits(examined.diagnosis) &&
         examined.advice.find("unstarve_loader") != nullptr &&
         !advise::image_folder(examined.job.data).empty();
}

Calibration calibrate_for(const Examination& examined, NativeOutput output) {
  if (!calibration_helps(examined)) return {};
  const auto transform = transform_of(examined.job.data, output);
  if (!transform) {
    Calibration unknown;
    unknown.remarks.push_back("unstarve_loader is not predicted: " + transform.error().message);
    return unknown;
  }
  Calibration calibration = calibrate_with(advise::image_folder(examined.job.data), *transform);
  const double freed_bytes = largest_pageable_copy_bytes(examined.recording->timeline);
  if (calibration.folder && freed_bytes > 0) calibration.freeing_s = measure_freeing(freed_bytes);
  return calibration;
}

}  // namespace unstarve::examine
