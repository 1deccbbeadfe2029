#include <fmt/format.h>

#include <cmath>

#include "advise/catalogue.h"
#include "advise/parts/native_model.h"
#include "advise/parts/worker_count.h"
#include "diagnose/rules/wording.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

/// unstarve's loader with one thread per effective CPU.
std::optional<Remedy> offer(const Situation& situation, std::string_view rule) {
  if (rule != "input_wait" && rule != "input_wait_from_host") return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  if (is_native(signals) || !may_load_natively(situation.job.data)) return std::nullopt;
  Remedy remedy;
  std::string threads;
  if (signals.effective_cpus) {
    const double count = whole_cpus(*signals.effective_cpus);
    threads = fmt::format(" with {:.0f} thread{}", count, count == 1 ? "" : "s");
    remedy.values = {{"threads", std::llround(count)}};
  }
  remedy.how = fmt::format(
      "Import DataLoader from unstarve instead of torch.utils.data{}: where it knows data set and "
      "transforms (ImageFolder and torchvision's), it reads, decodes and batches in native "
      "threads{}.",
      diagnose::at(situation.job.loader_place), threads);
  remedy.edit = "- from torch.utils.data import DataLoader\n+ from unstarve import DataLoader";
  return remedy;
}

std::optional<predict::Remedy> model(const Remedy&, const PredictionBasis& basis) {
  return drop_in_model(basis.calibration.folder, basis);
}

/// The hook puts our loader in torch's place.
std::optional<Application> apply(const Remedy&) {
  Application application;
  application.environment = {{"UNSTARVE_FIX", R"({"loader": "unstarve"})"},
                             {"UNSTARVE_CACHE_DIR", ""}};  // no first epoch of it
  application.change = "from unstarve import DataLoader, in torch's place";
  application.needs_package = true;
  return application;
}

}  // namespace

CatalogueEntry unstarve_loader_remedy() {
  return {.id = "unstarve_loader",
          .effort = Effort::kImport,
          .offer = offer,
          .model = model,
          .apply = apply};
}

}  // namespace unstarve::advise
