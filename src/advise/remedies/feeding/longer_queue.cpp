#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

constexpr std::int64_t kLongerPrefetch = 8;
constexpr double kMostWorkersPerCpu = 2;

/// Batches lie ready at some of the waits and yet the training waits: the workers keep up, but some
/// batches take much longer than others.
std::optional<Remedy> offer_longer_queue(const Situation& situation, std::string_view rule) {
  constexpr double kMostEmpty = 0.75;
  const diagnose::Signals& signals = situation.signals;
  const bool concerns = rule == "input_wait" || rule == "input_wait_from_host";
  if (!concerns || diagnose::is_native(signals)) return std::nullopt;
  if (diagnose::handing_over_takes_longer(signals)) return std::nullopt;
  if (signals.num_workers.value_or(0) < 1 || !signals.prefetch_factor) return std::nullopt;
  if (*signals.prefetch_factor >= static_cast<double>(kLongerPrefetch)) return std::nullopt;
  if (!signals.empty_queue_ratio || *signals.empty_queue_ratio > kMostEmpty) return std::nullopt;
  const double batches = *signals.num_workers * static_cast<double>(kLongerPrefetch);
  if (batches > batches_in_memory(signals)) return std::nullopt;
  // Of workers that are many since their storage answers late, each is ahead already.
  const double crowd = kMostWorkersPerCpu * signals.effective_cpus.value_or(*signals.num_workers);
  if (*signals.num_workers > crowd) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with prefetch_factor={} instead of {:.0f}: its workers keep up, but "
      "some batches take much longer than others.",
      diagnose::at(situation.job.loader_place), kLongerPrefetch, *signals.prefetch_factor);
  remedy.values = {{"prefetch_factor", kLongerPrefetch}};
  remedy.edit =
      fmt::format("- DataLoader(...)\n+ DataLoader(..., prefetch_factor={})", kLongerPrefetch);
  return remedy;
}

std::optional<predict::Remedy> model_longer_queue(const Remedy& remedy,
                                                  const PredictionBasis& basis) {
  if (basis.pipeline.workers < 1 || !basis.pipeline.fetches_seen) return std::nullopt;
  const int prefetch_factor = static_cast<int>(remedy.values.at("prefetch_factor"));
  return predict::longer_queue(basis.pipeline.workers, prefetch_factor);
}

std::optional<Application> apply_longer_queue(const Remedy& remedy) {
  const std::int64_t prefetch_factor = remedy.values.at("prefetch_factor");
  return Application{
      .fix = {{"prefetch_factor", std::to_string(prefetch_factor)}},
      .change = fmt::format("prefetch_factor={} in the DataLoader", prefetch_factor)};
}

}  // namespace

CatalogueEntry longer_queue_remedy() {
  return {.id = "longer_queue",
          .effort = Effort::kArgument,
          .offer = offer_longer_queue,
          .model = model_longer_queue,
          .apply = apply_longer_queue};
}

}  // namespace unstarve::advise
