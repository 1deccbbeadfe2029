#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

constexpr std::int64_t kPrefetchFactor = 4;

/// Each of several workers gives all of an iterable data set that does not divide itself: then one
/// at most.
std::optional<Workers> workers_of_stream(const diagnose::Signals& signals) {
  if (!signals.num_workers || *signals.num_workers >= 1) return std::nullopt;
  Workers workers;
  workers.count = 1;
  return workers;
}

std::string why_so_many(const Situation& situation, const Workers& workers, double needed) {
  const diagnose::Signals& signals = situation.signals;
  if (may_repeat_in_workers(situation.job.data)) {
    return "no more, since each worker gives all of an iterable data set that does not divide "
           "itself";
  }
  if (workers.beyond_cpus) {
    return fmt::format(
        "more than the {:.0f} CPUs of this job, since a worker is off the CPU for {} of its "
        "time: it waits for storage",
        signals.effective_cpus.value_or(0), percent_text(1 - signals.fetch_cpu_ratio.value_or(0)));
  }
  if (!signals.effective_cpus || needed <= *signals.effective_cpus) return "";
  return fmt::format("{:.0f} workers would hide a batch entirely, this job may use {:.0f} CPUs",
                     needed, *signals.effective_cpus);
}

std::optional<Remedy> offer_more_workers(const Situation& situation, std::string_view rule) {
  if (!is_about_waiting(rule)) return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double> needed = needed_workers(signals);
  std::optional<Workers> workers = workers_for(signals, needed);
  if (workers && may_repeat_in_workers(situation.job.data)) workers = workers_of_stream(signals);
  if (!workers) return std::nullopt;
  const std::int64_t prefetch = workers->beyond_cpus ? kPrefetchBeyondCpus : kPrefetchFactor;
  const std::string now =
      signals.num_workers ? fmt::format(" instead of {:.0f}", *signals.num_workers) : "";
  const std::string why = why_so_many(situation, *workers, *needed);
  Remedy remedy;
  remedy.how = fmt::format("Make the DataLoader{} with num_workers={:.0f}{}, prefetch_factor={}{}.",
                           diagnose::at(situation.job.loader_place), workers->count, now, prefetch,
                           why.empty() ? why : "; " + why);
  if (!why.empty()) remedy.beside_edit = diagnose::capitalised(why) + ".";
  remedy.values = {{"num_workers", whole_number<std::int64_t>(workers->count)},
                   {"prefetch_factor", prefetch}};
  if (workers->beyond_cpus) remedy.values[kBeyondCpus] = 1;
  const std::string was =
      signals.num_workers ? fmt::format("num_workers={:.0f}", *signals.num_workers) : "...";
  remedy.edit = fmt::format(
      "- DataLoader(..., {})\n+ DataLoader(..., num_workers={:.0f}, prefetch_factor={})", was,
      workers->count, prefetch);
  return remedy;
}

std::optional<predict::Remedy> model_more_workers(const Remedy& remedy,
                                                  const PredictionBasis& basis) {
  // Forked tokenizers give up their threads: two workers took 16 ms a step, none took the same.
  if (basis.waits_for_library) return std::nullopt;
  const std::int64_t workers = remedy.values.at("num_workers");
  predict::Remedy edit = model_of_workers(workers, remedy.values.at("prefetch_factor"), basis);
  if (basis.steps_per_pass > 0) {
    // 10 ms to fork a small process; 1.8 s were seen for 21 of one with torch, on two CPUs.
    constexpr predict::Range kStartS = {0.01, 0.1};
    const double more = std::max(static_cast<int>(workers) - basis.pipeline.workers, 0);
    edit.start_s = {more * kStartS.low / basis.steps_per_pass,
                    more * kStartS.high / basis.steps_per_pass};
  }
  return edit;
}

std::optional<Application> apply_more_workers(const Remedy& remedy) {
  const std::int64_t workers = remedy.values.at("num_workers");
  const std::int64_t prefetch = remedy.values.at("prefetch_factor");
  Application application;
  application.fix = {{"num_workers", std::to_string(workers)},
                     {"prefetch_factor", std::to_string(prefetch)}};
  if (remedy.values.count(kBeyondCpus) != 0) application.fix.emplace("beyond_cpus", "true");
  application.change =
      fmt::format("num_workers={}, prefetch_factor={} in the DataLoader", workers, prefetch);
  return application;
}

}  // namespace

CatalogueEntry more_workers_remedy() {
  return {.id = "more_workers",
          .effort = Effort::kArgument,
          .offer = offer_more_workers,
          .model = model_more_workers,
          .apply = apply_more_workers};
}

}  // namespace unstarve::advise
