#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "diagnose/rules/wording.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

constexpr std::int64_t kPrefetchFactor = 4;

bool concerns(std::string_view rule) {
  return rule == "input_wait" || rule == "input_wait_from_host" ||
         rule == "gpu_fluctuating_cpu_low";
}

/// As many as are needed and the CPUs allow; nothing when the CPUs are busy already, or as many
/// run.
std::optional<double> workers_for(const diagnose::Signals& signals, const Reading<double>& needed) {
  if (is_native(signals)) return std::nullopt;  // it has threads
  if (signals.cpu_use_ratio && *signals.cpu_use_ratio >= diagnose::kCpusBusy) return std::nullopt;
  if (!needed) return std::nullopt;
  const double workers = std::min(*needed, whole_cpus(signals.effective_cpus.value_or(*needed)));
  if (signals.num_workers && workers <= *signals.num_workers) return std::nullopt;
  return workers;
}

std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (!concerns(rule)) return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double> needed = needed_workers(signals);
  const std::optional<double> workers = workers_for(signals, needed);
  if (!workers) return std::nullopt;
  const std::string now =
      signals.num_workers ? fmt::format(" instead of {:.0f}", *signals.num_workers) : "";
  const std::string bound =
      signals.effective_cpus && *needed > *signals.effective_cpus
          ? fmt::format("; hiding a batch entirely would take {:.0f}, this job may use {:.0f} CPUs",
                        *needed, *signals.effective_cpus)
          : "";
  Remedy remedy;
  remedy.how =
      fmt::format("Make the DataLoader{} with num_workers={:.0f}{}, prefetch_factor={}{}.",
                  diagnose::at(situation.job.loader_place), *workers, now, kPrefetchFactor, bound);
  remedy.values = {{"num_workers", std::llround(*workers)}, {"prefetch_factor", kPrefetchFactor}};
  remedy.edit = fmt::format(
      "- DataLoader(dataset, ...)\n+ DataLoader(dataset, ..., num_workers={:.0f}, "
      "prefetch_factor={})",
      *workers, kPrefetchFactor);
  return remedy;
}

std::optional<predict::Remedy> model(const Remedy& remedy, const PredictionBasis& basis) {
  predict::WorkerPlacement placement;
  placement.workers = static_cast<int>(remedy.values.at("num_workers"));
  placement.prefetch_factor = static_cast<int>(remedy.values.at("prefetch_factor"));
  placement.batch_bytes = basis.bytes_per_step;
  placement.cores = basis.machine.cores;
  return predict::more_workers(placement, basis.pipeline, basis.workers);
}

std::optional<Application> apply(const Remedy& remedy) {
  const std::int64_t workers = remedy.values.at("num_workers");
  const std::int64_t prefetch = remedy.values.at("prefetch_factor");
  Application application;
  application.environment = {
      {"UNSTARVE_FIX",
       fmt::format(R"({{"num_workers": {}, "prefetch_factor": {}}})", workers, prefetch)}};
  application.change =
      fmt::format("num_workers={}, prefetch_factor={} in the DataLoader", workers, prefetch);
  return application;
}

}  // namespace

CatalogueEntry more_workers_remedy() {
  return {.id = "more_workers",
          .effort = Effort::kArgument,
          .offer = offer,
          .model = model,
          .apply = apply};
}

}  // namespace unstarve::advise
