#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

/// Among a remedy's values: of a fetch's time, what goes into samples of other workers.
constexpr const char* kSkipped = "percent_skipped";

/// The stream is divided, but by skipping what was made.
std::optional<Remedy> offer_division_of_what_is_read(const Situation& situation) {
  constexpr double kMuch = 0.15;
  const diagnose::Signals& signals = situation.signals;
  const double skipped = signals.fetch_skipped_ratio.value_or(0);
  if (skipped < kMuch) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Divide what is read among the workers (files, row groups, rows), and not the samples{}: "
      "each of the {:.0f} makes all of them and skips those of the others, {} of its time.",
      diagnose::at(situation.job.data.skips_at), signals.num_workers.value_or(0),
      percent_text(skipped));
  remedy.values = {{kSkipped, whole_number<std::int64_t>(100 * skipped)}};
  return remedy;
}

std::optional<Remedy> offer_divided_stream(const Situation& situation, std::string_view rule) {
  constexpr double kFewestToDivide = 2;
  const trace::DataSet& data = situation.job.data;
  if (is_about_waiting(rule)) {
    if (std::optional<Remedy> divided = offer_division_of_what_is_read(situation)) return divided;
  }
  if (!is_about_waiting(rule) || !may_repeat_in_workers(data)) return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  const bool repeats = data.workers_repeat.value_or(false);
  const std::optional<Workers> wanted = workers_for(signals, needed_workers(signals));
  if (!wanted && !repeats) return std::nullopt;
  const double workers = std::max(wanted ? wanted->count : 0, signals.num_workers.value_or(0));
  if (workers < kFewestToDivide) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Divide what the iterable data set reads (its files, or rows, before samples are made of "
      "them) by torch.utils.data.get_worker_info(), since {}, then make the DataLoader{} with "
      "num_workers={:.0f}, and see that two workers give different batches.",
      repeats ? "its workers give the same samples" : "each worker gives all of it",
      diagnose::at(situation.job.loader_place), workers);
  remedy.values = {{"num_workers", whole_number<std::int64_t>(workers)}};
  remedy.edit =
      "+ info = torch.utils.data.get_worker_info()  # in __iter__\n"
      "+ if info is not None:\n"
      "+     files = files[info.id :: info.num_workers]";
  return remedy;
}

/// As that many workers of any other data set: each reads none of the samples that are another's.
/// How workers that now give the same would do is not known.
std::optional<predict::Remedy> model_divided_stream(const Remedy& remedy,
                                                    const PredictionBasis& basis) {
  if (const auto skipped = remedy.values.find(kSkipped); skipped != remedy.values.end()) {
    constexpr double kLeastOfIt = 0.7;
    const double share = static_cast<double>(skipped->second) / 100;
    return predict::lighter_fetches(basis.pipeline, {1 - share, 1 - kLeastOfIt * share});
  }
  if (basis.pipeline.workers > 0) return std::nullopt;
  return model_of_workers(remedy.values.at("num_workers"), kPrefetchBeyondCpus, basis);
}

}  // namespace

CatalogueEntry divided_stream_remedy() {
  return {.id = "divided_stream",
          .effort = Effort::kRewrite,
          .offer = offer_divided_stream,
          .model = model_divided_stream,
          .why_not_tried = "it takes a change of the data set's code"};
}

}  // namespace unstarve::advise
