#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/known_work.h"
#include "advise/parts/native_model.h"
#include "advise/parts/worker_count.h"
#include "base/units.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

constexpr const char* kThreads = "threads";

/// As many as there are CPUs, or, where fetches wait for storage, as hide that behind the steps.
double threads_for(const diagnose::Signals& signals) {
  const double cpus = whole_cpus(*signals.effective_cpus);
  const double waiting = waiting_workers(signals, 0);
  const Reading<double> needed = needed_workers(signals);
  return needed ? std::max(cpus, std::min(*needed, waiting)) : cpus;
}

std::optional<Remedy> offer_unstarve_loader(const Situation& situation, std::string_view rule) {
  if (rule != "input_wait" && rule != "input_wait_from_host") return std::nullopt;
  const diagnose::Signals& signals = situation.signals;
  if (is_native(signals) || !may_load_natively(situation.job.data)) return std::nullopt;
  if (image_folder(situation.job.data).empty() && has_known_work(signals)) return std::nullopt;
  Remedy remedy;
  std::string threads;
  std::string argument;
  if (signals.effective_cpus) {
    const double count = threads_for(signals);
    threads = fmt::format(" with {:.0f} thread{}", count, count == 1 ? "" : "s");
    remedy.values = {{kThreads, whole_number<std::int64_t>(count)}};
    if (count > whole_cpus(*signals.effective_cpus)) {
      remedy.values[kBeyondCpus] = 1;
      argument = fmt::format(
          " (num_workers={:.0f}: more than CPUs, since reading waits for storage)", count);
    }
  }
  remedy.how = fmt::format(
      "Import DataLoader from unstarve instead of torch.utils.data{}: where it knows data set and "
      "transforms (ImageFolder and torchvision's), it reads, decodes and batches in native "
      "threads{}{}; its explain() says whether it does, and why not.",
      diagnose::at(situation.job.loader_place), threads, argument);
  remedy.edit = "- from torch.utils.data import DataLoader\n+ from unstarve import DataLoader";
  return remedy;
}

std::optional<predict::Remedy> model_unstarve_loader(const Remedy& remedy,
                                                     const PredictionBasis& basis) {
  auto edit = drop_in_model(basis.calibration.folder, basis);
  if (!edit || !basis.waits_for_storage) return edit;
  // Its threads wait for the same files. What was loaded to calibrate may have been read before.
  const double samples = std::max(basis.pipeline.mean_samples(), 1.0);
  edit->sample_blocked_s = basis.pipeline.mean_fetch_blocked_s() / samples;
  if (const auto threads = remedy.values.find(kThreads); threads != remedy.values.end()) {
    edit->loader.workers = static_cast<int>(threads->second);
    edit->loader.batches_ahead = std::max(edit->loader.batches_ahead, edit->loader.workers);
  }
  predict::assume_storage_keeps_up(basis.machine.cores, basis.pipeline, *edit);
  return edit;
}

/// The hook puts our loader in torch's place.
std::optional<Application> apply_unstarve_loader(const Remedy& remedy) {
  Application application;
  application.fix = {{"loader", "\"unstarve\""}};
  if (const auto threads = remedy.values.find(kThreads); threads != remedy.values.end()) {
    application.fix.emplace("num_workers", std::to_string(threads->second));
  }
  if (remedy.values.count(kBeyondCpus) != 0) application.fix.emplace(kBeyondCpus, "true");
  application.change = "from unstarve import DataLoader, in torch's place";
  application.needs_package = true;
  return application;
}

}  // namespace

CatalogueEntry unstarve_loader_remedy() {
  return {.id = "unstarve_loader",
          .effort = Effort::kImport,
          .offer = offer_unstarve_loader,
          .model = model_unstarve_loader,
          .apply = apply_unstarve_loader};
}

}  // namespace unstarve::advise
