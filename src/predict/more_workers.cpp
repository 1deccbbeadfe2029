#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "predict/simulation.h"
#include "predict/what_if.h"

namespace unstarve::predict {

namespace {

// Shared-memory transport of torch's workers, for want of a calibration. The worker touches every
// page of a fresh segment instead of memory that it has: 16 ms more for 77 MB on one machine.
constexpr double kWorkerBytesPerS = 4e9;
// Whoever reads a batch first maps its pages, 16 at a fault; an emulated device never reads it.
constexpr double kMappedBytesPerS = 30e9;
// What waits for storage may wait longer beside many others.
constexpr Range kMoreAtATime = {1.0, 1.25};
// Unpickling, a queue and a file descriptor per tensor: about a millisecond per batch.
constexpr double kReceiveFixedS = 1e-3;
// For each tensor's descriptor the training thread asks a thread of the worker: 0.03 to 0.1 ms in
// jobs of the zoo whose workers sleep, 0.4 ms where they are busy. While the worker makes a batch
// in Python that thread waits for its lock, for 5 ms at most (Python's switch interval), and most
// often for less.
constexpr Range kReceiveTensorS = {0.05e-3, 0.4e-3};
constexpr double kReceiveLockedS = 2.5e-3;
constexpr double kTensorsOfABatch = 2;  // images and labels

/// A sentence for the report; empty when the calibration fits.
std::string why_not_calibrated(const WorkerPlacement& placement, const PipelineMeasurements& before,
                               const CalibrationText& calibration) {
  std::string why = calibration.refused.empty() ? "only trials do that" : calibration.refused;
  if (const auto& measured = calibration.measured; measured) {
    const bool same_loader = before.loader_id && *before.loader_id == measured->loader_id;
    const bool one_tells = placement.workers == 1 || placement.cores <= 1;
    if (same_loader && (one_tells || measured->many.workers > 1)) return {};
    why = same_loader ? "only of one, which does not tell what a second core adds"
                      : "it was another loader that was measured";
  }
  return fmt::format(
      "what a batch costs in a worker process was not measured ({}), so the prediction of more "
      "workers takes it from the training process, in a wide range",
      why);
}

Range around(double value, double error) {
  return {std::max(0.0, value - kErrors * error), value + kErrors * error};
}

/// Two crews on the same cores tell how much one more core adds: where the second one adds nothing,
/// two workers take twice as long for a batch as one does.
MeasuredWorkers crew_of(const WorkerCalibration& found, double cores) {
  const MeasuredCrew& many = found.many;
  const double alone_s = found.one.cpu.mean_s;
  const double blocked_s = std::max(0.0, found.one.wall.mean_s - alone_s);
  // Waiting for storage may differ from crew to crew by more than the CPU takes.
  const double beside_s = std::max(many.wall.mean_s - blocked_s, many.cpu.mean_s);
  MeasuredWorkers crew;
  crew.workers = many.workers;
  crew.cores = std::min<double>(many.workers, cores);
  crew.batch_s = around(beside_s, many.wall.error_s);
  if (many.workers >= cores) crew.consumer_cpu_s = many.receive.mean_s + many.release.mean_s;
  if (crew.cores <= 1) return crew;
  const double capacity = many.workers * (alone_s + crew.consumer_cpu_s) / beside_s;
  const double error =
      capacity * std::hypot(found.one.cpu.error_s / alone_s, many.wall.error_s / beside_s);
  const Range range = around((capacity - 1) / (crew.cores - 1), error / (crew.cores - 1));
  crew.parallel_efficiency = {std::min(range.low, 1.0), std::min(range.high, 1.0)};
  return crew;
}

/// Workers that mostly wait for storage do not tell how cores share work. What they tell is the CPU
/// time of a batch.
void place_waiting(const WorkerCalibration& found, const PipelineMeasurements& before,
                   Remedy& remedy) {
  remedy.crew.reset();
  const double samples = before.mean_samples() > 0 ? before.mean_samples() : found.samples;
  const double scale = samples / found.samples / std::max(before.mean_fetch_cpu_s(), 1e-9);
  const Range cpu_s = around(found.many.cpu.mean_s, found.many.cpu.error_s);
  remedy.fetch_scale = {scale * cpu_s.low, scale * cpu_s.high};
  remedy.transport_cpu_s = before.pinning_s;  // not measured
}

void place_measured(const WorkerPlacement& placement, const WorkerCalibration& found,
                    const PipelineMeasurements& before, Remedy& remedy) {
  MeasuredWorkers crew = crew_of(found, std::max(placement.cores, 1.0));
  if (const double samples = before.mean_samples(); samples > 0) {
    for (double* of_a_batch : {&crew.batch_s.low, &crew.batch_s.high, &crew.consumer_cpu_s}) {
      *of_a_batch *= samples / found.samples;
    }
  }
  crew.pinning_cpu_s = before.pinning_s;
  remedy.crew = crew;
  const bool waited = found.one.wall.mean_s > 2 * found.one.cpu.mean_s;
  if (waited) place_waiting(found, before, remedy);
  const Range receive_s = around(found.many.receive.mean_s, found.many.receive.error_s);
  remedy.loader.receive_s = receive_s.low;
  remedy.receive_more_s = {
      0, receive_s.high - receive_s.low + placement.batch_bytes / kMappedBytesPerS};
}

/// The same fetch runs without torch's threads, which spin for work, but beside others: caches and
/// memory bandwidth are shared, the allocator starts cold. Seen: 0.9 to 1.02 times the CPU time.
void place_guessed(const WorkerPlacement& placement, const PipelineMeasurements& before,
                   Remedy& remedy) {
  const double tensors = placement.tensors > 0 ? placement.tensors : kTensorsOfABatch;
  const double fetch_s = before.mean_fetch_cpu_s() + before.mean_fetch_blocked_s();
  const double other_s = std::max(before.mean_step_s() - fetch_s, 1e-9);
  const double busy = std::min(1.0, fetch_s / (std::max(placement.workers, 1) * other_s));
  const double mapping_s = placement.batch_bytes / kMappedBytesPerS;
  remedy.fetch_scale = {0.85, 1.15};
  remedy.loader.receive_s = tensors * kReceiveTensorS.low;
  const double slower_s = kReceiveTensorS.high - kReceiveTensorS.low;
  remedy.receive_more_s = {0, tensors * (slower_s + busy * kReceiveLockedS) + mapping_s};
  remedy.transport_cpu_s = placement.batch_bytes / kWorkerBytesPerS + before.pinning_s;
  if (before.handover_s.high <= 0) return;
  // Workers that there are have shown what it takes to receive a batch; what they themselves do for
  // it is in the time of their fetches, or beside it.
  remedy.loader.receive_s =
      std::clamp(remedy.loader.receive_s, before.handover_s.low, before.handover_s.high);
  remedy.receive_more_s = {0, before.handover_s.high - remedy.loader.receive_s + mapping_s};
  remedy.transport_cpu_s = 0;
}

}  // namespace

Remedy more_workers(int workers, int prefetch_factor, double batch_bytes) {
  return more_workers({workers, prefetch_factor, batch_bytes}, {}, {});
}

Remedy more_workers(const WorkerPlacement& placement, const PipelineMeasurements& before,
                    const CalibrationText& calibration) {
  Remedy remedy;
  remedy.loader.workers = placement.workers;
  remedy.loader.batches_ahead = placement.workers * placement.prefetch_factor;
  remedy.lacks = why_not_calibrated(placement, before, calibration);
  if (remedy.lacks.empty()) {
    place_measured(placement, *calibration.measured, before, remedy);
  } else {
    place_guessed(placement, before, remedy);
  }
  assume_storage_keeps_up(placement.cores, before, remedy);
  return remedy;
}

Remedy longer_queue(int workers, int prefetch_factor) {
  Remedy remedy;
  remedy.loader.workers = workers;
  remedy.loader.batches_ahead = workers * prefetch_factor;
  remedy.loader.receive_s = kReceiveFixedS;
  remedy.same_workers = true;
  return remedy;
}

Remedy lighter_fetches(const PipelineMeasurements& before, Range fetch_scale) {
  Remedy remedy;
  remedy.loader.workers = before.workers;
  remedy.loader.batches_ahead = before.batches_ahead;
  remedy.loader.receive_s = before.workers > 0 ? kReceiveFixedS : 0;
  remedy.fetch_scale = fetch_scale;
  remedy.waits_less = true;
  remedy.same_workers = true;
  remedy.of_the_difference = {0.9, 1.0};
  return remedy;
}

void assume_storage_keeps_up(double cores, const PipelineMeasurements& before, Remedy& remedy) {
  const bool waits = before.mean_fetch_blocked_s() > before.mean_fetch_cpu_s();
  if (!waits || remedy.loader.workers <= std::max(cores, 1.0)) return;
  remedy.blocked_scale = kMoreAtATime;
  remedy.lacks += fmt::format(
      "{}how storage answers {} requests at a time is not known: the prediction takes it that each "
      "waits as long as now, at most {:.0f} % longer",
      remedy.lacks.empty() ? "" : "; ", remedy.loader.workers, 100 * (kMoreAtATime.high - 1));
}

}  // namespace unstarve::predict
