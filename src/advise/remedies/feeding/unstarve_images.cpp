#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/known_work.h"
#include "advise/parts/worker_count.h"
#include "base/number_words.h"
#include "base/units.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

/// What compiled code saves of that work: bench/reach has pipelines of this kind from 2.6 times
/// (crop and flip) to 7 times (TrivialAugment) as fast.
constexpr double kSavedAtLeast = 0.55;
constexpr double kSavedAtMost = 0.85;

constexpr const char* kShare = "percent";  // of making a batch

/// Worker processes alone do it: in the training's own process the script may look at what changes.
std::optional<Remedy> offer_unstarve_images(const Situation& situation, std::string_view rule) {
  const diagnose::Signals& signals = situation.signals;
  const double share = signals.fetch_opened_images_ratio.value_or(0);
  const bool has_workers = signals.num_workers.value_or(0) > 0;
  if (!is_about_waiting(rule) || is_native(signals) || !has_workers) return std::nullopt;
  if (share < kMuchOfAFetch || may_load_natively(situation.job.data)) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Import DataLoader from unstarve instead of torch.utils.data{}: its workers decode the "
      "images that the data set opens, and do torchvision's transforms of them, in compiled code: "
      "{} of making a batch.",
      diagnose::at(situation.job.loader_place), percent_text(share));
  remedy.values = {{kShare, whole_number<std::int64_t>(100 * share)}};
  remedy.edit = "- from torch.utils.data import DataLoader\n+ from unstarve import DataLoader";
  return remedy;
}

std::optional<predict::Remedy> model_unstarve_images(const Remedy& remedy,
                                                     const PredictionBasis& basis) {
  const double share = static_cast<double>(remedy.values.at(kShare)) / 100;
  const double least = kSavedAtLeast * (share - kErrorOfShare);
  const double most = kSavedAtMost * std::min(1.0, share + kErrorOfShare);
  return predict::lighter_fetches(basis.pipeline, {1 - most, 1 - least});
}

std::optional<Application> apply_unstarve_images(const Remedy&) {
  Application application;
  application.fix = {{"loader", "\"workers\""}};
  application.change = "from unstarve import DataLoader, in torch's place";
  application.needs_package = true;
  return application;
}

}  // namespace

CatalogueEntry unstarve_images_remedy() {
  return {.id = "unstarve_images",
          .effort = Effort::kImport,
          .offer = offer_unstarve_images,
          .model = model_unstarve_images,
          .apply = apply_unstarve_images};
}

}  // namespace unstarve::advise
