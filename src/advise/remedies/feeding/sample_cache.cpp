#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "base/units.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

constexpr const char* kPercentOfCollate = "percent_of_collate";
constexpr const char* kPasses = "passes";

/// What serving a kept sample takes, and noticing that it may be kept; and its bytes at these rates
/// (bench/sample_cache, in the measurements).
constexpr predict::Range kServedS = {0.05e-3, 0.3e-3};
constexpr predict::Range kBytesPerS = {1e9, 4e9};

/// Samples that are made in less gain too little beside kServedS.
constexpr double kLeastMadeNs = 5e5;

/// Of a fetch, what is done after samples were made, whatever it is.
double in_collate(const diagnose::Signals& signals) {
  return std::max(signals.collate_ratio.value_or(0), signals.fetch_collating_ratio.value_or(0));
}

/// Nanoseconds of a sample that is made, as fetches were seen to take; 0: not known.
double made_ns(const diagnose::Signals& signals) {
  if (!signals.fetch_ns_median || !signals.batch_size || *signals.batch_size < 1) return 0;
  return *signals.fetch_ns_median * (1 - in_collate(signals)) / *signals.batch_size;
}

std::optional<Remedy> offer_sample_cache(const Situation& situation, std::string_view rule) {
  if (rule != "input_wait" && rule != "input_wait_from_host") return std::nullopt;
  const trace::DataSet& data = situation.job.data;
  const bool is_cached = data.class_name.rfind("unstarve.", 0) == 0;
  if (is_native(situation.signals) || data.is_stream || is_cached) return std::nullopt;
  if (data.draws.value_or(true) || made_ns(situation.signals) < kLeastMadeNs) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Keep the samples, whose making draws no random numbers: give the DataLoader{} "
      "`unstarve.cached(dataset)` in the place of the data set. From the second epoch on those are "
      "read that it proves to be the same each time; explain() says why others are not.",
      diagnose::at(situation.job.loader_place));
  const double collate = 100 * in_collate(situation.signals);
  remedy.values = {{kPercentOfCollate, whole_number<std::int64_t>(collate)},
                   {kPasses, situation.job.passes}};
  remedy.edit = "- DataLoader(dataset, ...)\n+ DataLoader(unstarve.cached(dataset), ...)";
  return remedy;
}

std::optional<predict::Remedy> model_sample_cache(const Remedy& remedy,
                                                  const PredictionBasis& basis) {
  const double samples = basis.pipeline.mean_samples();
  const double fetch_s = basis.pipeline.mean_fetch_cpu_s() + basis.pipeline.mean_fetch_blocked_s();
  if (samples < 1 || fetch_s <= 0) return std::nullopt;
  const double collate = static_cast<double>(remedy.values.at(kPercentOfCollate)) / 100;
  const auto left = [&](double served_s, double bytes_per_s) {
    const double read_s = samples * served_s + basis.bytes_per_step / bytes_per_s;
    return std::clamp(collate + read_s / fetch_s, 0.0, 1.0);
  };
  return predict::lighter_fetches(
      basis.pipeline, {left(kServedS.low, kBytesPerS.high), left(kServedS.high, kBytesPerS.low)});
}

/// The hook puts it around the data sets of the job's loaders, and records from their second pass
/// on.
std::optional<Application> apply_sample_cache(const Remedy& remedy) {
  if (remedy.values.at(kPasses) < 2) return std::nullopt;  // a trial would end in the first
  return Application{
      .fix = {{"cache", "true"}},
      .change = "unstarve.cached(dataset) in the DataLoader, from the second epoch on",
      .needs_package = true};
}

}  // namespace

CatalogueEntry sample_cache_remedy() {
  return {.id = "sample_cache",
          .effort = Effort::kCache,
          .offer = offer_sample_cache,
          .model = model_sample_cache,
          .apply = apply_sample_cache,
          .gains_later = true,
          .names_no_work = true,
          .why_not_tried = "it gains from the second epoch on, which no trial of this job reaches"};
}

}  // namespace unstarve::advise
