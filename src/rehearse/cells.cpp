#include "rehearse/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace unstarve::rehearse {

namespace {

// What durations may be off by, with 90 % (docs/measurements.md, published step times): a roofline
// misses by a quarter; a ratio of rooflines, behind a trace of one kind, by less.
constexpr predict::Range kRooflineError = {0.8, 1.25};
constexpr predict::Range kTraceError = {0.95, 1.05};
constexpr predict::Range kOtherKindsTraceError = {0.87, 1.15};
constexpr predict::Range kStepTimeError = {0.98, 1.02};
// A new segment of shared memory for each batch, where workers were not measured: more_workers.cpp.
constexpr double kWorkerBytesPerS = 4e9;
constexpr double kPixelBytes = 224.0 * 224 * 3 * 4;
constexpr double kReceiveS = 1e-3;
constexpr double kNativeReceiveS = 1e-4;
constexpr int kPrefetchFactor = 2;
// Of the AU: less is no change that anybody sees.
constexpr double kWorthSaying = 0.01;
// For the curve: steps of a half of what went before, from half a core.
constexpr double kFewestCores = 0.5;
constexpr double kMostCores = 256;
constexpr double kNextCores = 1.41421356;

predict::Range error_of(DurationsBy by, bool own_kind) {
  switch (by) {
    case DurationsBy::kStepTime: return kStepTimeError;
    case DurationsBy::kTrace: return own_kind ? kTraceError : kOtherKindsTraceError;
    case DurationsBy::kRoofline: return kRooflineError;
  }
  return kRooflineError;
}

predict::Placement placement_of(const CellBasis& basis, const RehearsedKind& kind,
                                std::size_t index, int gpus) {
  const emulated::Profile& own = basis.profiles.front();
  const emulated::Profile& there = basis.profiles[index];
  predict::Placement where;
  where.gpus = gpus;
  where.cores = basis.cores;
  where.kind.compute_ratio = kind.device_s / std::max(mean_device_s(basis.fitted), 1e-9);
  where.kind.copy_ratio =
      there.pinned_bytes_per_s > 0 ? own.pinned_bytes_per_s / there.pinned_bytes_per_s : 1;
  where.kind.duration_error = error_of(kind.by, index == 0);
  where.kind.link_bytes_per_s = there.link_bytes_per_s;
  where.kind.link_latency_ns = there.link_latency_ns;
  where.gradient_bytes = basis.run.gradient_bytes.value_or(0);
  return where;
}

struct Option {
  std::string id;
  std::string how;
  predict::OtherLoader loader;
};

/// As many workers for each GPU as it takes and the cores carry; nothing where the job has them.
void add_workers(const CellBasis& basis, const predict::Placement& where, int needed,
                 std::vector<Option>& options) {
  const int carried = std::max(1, static_cast<int>(where.cores / where.gpus));
  const int workers = std::min(std::max(needed, 1), carried);
  if (workers <= basis.run.workers || (basis.run.workers_repeat && workers > 1)) return;
  Option option;
  option.id = "more_workers";
  option.how = fmt::format("num_workers={}", workers);
  option.loader.loader = basis.fitted.model.loader;
  option.loader.loader.workers = workers;
  option.loader.loader.batches_ahead = workers * kPrefetchFactor;
  option.loader.loader.receive_s = std::max(option.loader.loader.receive_s, kReceiveS);
  if (basis.run.workers == 0) {
    const auto& measured = basis.workers.measured;
    if (measured && measured->samples > 0) {
      option.loader.sample_cpu_s = measured->many.cpu.mean_s / measured->samples;
      option.loader.loader.receive_s =
          measured->many.receive.mean_s + measured->many.release.mean_s;
    } else {
      option.loader.transport_cpu_s = basis.run.samples * kPixelBytes / kWorkerBytesPerS;
    }
  }
  options.push_back(std::move(option));
}

void add_native(const CellBasis& basis, const predict::Placement& where,
                std::vector<Option>& options) {
  const int threads = std::max(1, static_cast<int>(where.cores / where.gpus));
  const std::pair<const char*, const std::optional<advise::LoaderCost>&> ways[] = {
      {"unstarve_loader", basis.calibration.folder},
      {"unstarve_cache", basis.calibration.cache},
      {"unstarve_shards", basis.calibration.shards}};
  for (const auto& [id, cost] : ways) {
    if (!cost) continue;
    Option option;
    option.id = id;
    option.how = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
    option.loader.loader = {
        .workers = threads, .batches_ahead = 2 * threads, .receive_s = kNativeReceiveS};
    option.loader.sample_cpu_s = cost->sample_cpu_s;
    options.push_back(std::move(option));
  }
}

std::vector<RehearsedRemedy> remedies_of(const CellBasis& basis, const predict::Placement& where,
                                         const RehearsedCell& cell) {
  std::vector<Option> options;
  add_workers(basis, where, cell.workers_needed, options);
  if (basis.run.samples > 0) add_native(basis, where, options);
  std::vector<RehearsedRemedy> remedies;
  for (const Option& option : options) {
    const predict::Forecast with = predict::forecast(basis.fitted, where, &option.loader, {});
    if (with.au.value < cell.forecast.au.value + kWorthSaying) continue;
    remedies.push_back({option.id, option.how, with.au});
  }
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const RehearsedRemedy& a, const RehearsedRemedy& b) {
                     return a.au.value > b.au.value + kWorthSaying;
                   });
  return remedies;
}

/// Up to where more cores add nothing.
std::vector<AuOnCores> curve_of(const CellBasis& basis, predict::Placement where) {
  std::vector<AuOnCores> curve;
  for (double cores = kFewestCores; cores <= kMostCores; cores *= kNextCores) {
    where.cores = cores;
    const double au = predict::forecast(basis.fitted, where, nullptr, {.resamples = 0}).au.value;
    const bool flat = curve.size() >= 2 && au - curve[curve.size() - 2].au < kWorthSaying / 10;
    curve.push_back({cores, au});
    if (flat && cores >= basis.cores) break;
  }
  return curve;
}

}  // namespace

double mean_device_s(const predict::FittedPipeline& fitted) {
  double sum = 0;
  for (const predict::StepCost& step : fitted.steps) sum += step.device_s;
  return sum / static_cast<double>(fitted.steps.size());
}

std::string plain_device_name(std::string name) {
  constexpr std::string_view kEmulatedWord = "Emulated ";
  if (name.starts_with(kEmulatedWord)) name.erase(0, kEmulatedWord.size());
  return name;
}

RehearsedCell rehearse_cell(const CellBasis& basis, const RehearsedKind& kind, std::size_t index,
                            int gpus) {
  const predict::Placement where = placement_of(basis, kind, index, gpus);
  RehearsedCell cell;
  cell.kind = index;
  cell.gpus = gpus;
  cell.forecast = predict::forecast(basis.fitted, where, nullptr, {});
  cell.cores_needed =
      predict::cores_needed(basis.fitted, where, basis.target_au, {.resamples = 20});
  cell.workers_needed = predict::workers_needed(basis.fitted, cell.forecast, basis.target_au);
  if (basis.run.read_bytes_per_sample) {
    const double step_s = cell.forecast.step_without_waiting_s / basis.target_au;
    cell.storage_bytes_per_s_needed =
        *basis.run.read_bytes_per_sample * basis.run.samples * gpus / step_s;
  }
  cell.au_on_cores = curve_of(basis, where);
  cell.remedies = remedies_of(basis, where, cell);
  return cell;
}

}  // namespace unstarve::rehearse
