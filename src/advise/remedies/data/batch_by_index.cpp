#include "advise/catalogue.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// Samples that come out of arrays in memory take less: then it is collating that takes long.
constexpr double kMostOfASampleNs = 100e3;

/// Many samples that are next to nothing each, stacked one by one.
std::optional<Remedy> offer_batch_by_index(const Situation& situation, std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  if (rule != "collate_ipc" || situation.job.data.is_stream) return std::nullopt;
  if (diagnose::is_native(signals) || loads_images(signals, situation.job)) return std::nullopt;
  if (!signals.fetch_ns_median || signals.batch_size.value_or(0) < 1) return std::nullopt;
  const double of_samples = 1 - signals.collate_ratio.value_or(0);
  if (*signals.fetch_ns_median * of_samples > kMostOfASampleNs * *signals.batch_size) {
    return std::nullopt;
  }
  Remedy remedy;
  remedy.how =
      "Take a batch out of the data set's arrays by one index, where they take a list of them: "
      "DataLoader(dataset, batch_size=None, sampler=BatchSampler(RandomSampler(dataset), n, "
      "False)). Nothing is then collated.";
  remedy.edit =
      "- DataLoader(dataset, batch_size=n, shuffle=True)\n"
      "+ DataLoader(dataset, batch_size=None,\n"
      "+            sampler=BatchSampler(RandomSampler(dataset), n, False))";
  return remedy;
}

}  // namespace

CatalogueEntry batch_by_index_remedy() {
  return {.id = "batch_by_index", .effort = Effort::kRewrite, .offer = offer_batch_by_index};
}

}  // namespace unstarve::advise
