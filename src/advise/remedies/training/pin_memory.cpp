#include <fmt/format.h>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/words/wording.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_pin_memory(const Situation& situation, std::string_view rule) {
  // Many small copies cost as much from pinned memory.
  const bool waits_for_them =
      rule == "blocking_copies" && !diagnose::makes_small_copies(situation.signals);
  if (rule != "pageable" && !waits_for_them) return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Make the DataLoader{} with pin_memory=True and copy with .to(device, non_blocking=True).",
      diagnose::at(situation.job.loader_place));
  remedy.edit =
      "- DataLoader(dataset, ...)\n+ DataLoader(dataset, ..., pin_memory=True)\n"
      "- batch.to(device)\n+ batch.to(device, non_blocking=True)";
  return remedy;
}

/// Page-locked memory is copied two to four times as fast as the driver stages pageable memory, and
/// copies that do not block lie beside kernels: from a third of the time in which nothing but
/// copies runs to all of it. Without workers the training thread copies each batch there.
Reading<predict::StepEdit> edit_pin_memory(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.3;
  constexpr predict::Range kPinnedBytesPerNs = {3, 12};
  const diagnose::Signals& signals = situation.signals;
  if (!signals.exposed_copy_ratio) return signals.exposed_copy_ratio.why_absent();
  if (!signals.pageable_ratio) return signals.pageable_ratio.why_absent();
  const double loader = loader_share(signals);
  predict::StepEdit edit_pin_memory = {
      .removed = part_of(*signals.exposed_copy_ratio * *signals.pageable_ratio, kLeastRemoved, 1),
      .at_least = {loader, loader}};
  if (signals.num_workers.value_or(1) < 1 && signals.step_ns_median.value_or(0) > 0) {
    const double bytes = signals.h2d_bytes_per_step.value_or(0);
    edit_pin_memory.added = {bytes / kPinnedBytesPerNs.high / *signals.step_ns_median,
                             bytes / kPinnedBytesPerNs.low / *signals.step_ns_median};
  }
  return edit_pin_memory;
}

/// The copies then come from page-locked memory; that they block stays with the job's source.
std::optional<Application> apply(const Remedy&) {
  return Application{.fix = {{"pin_memory", "true"}},
                     .change = "pin_memory=True in the DataLoader"};
}

}  // namespace

CatalogueEntry pin_memory_remedy() {
  return {.id = "pin_memory",
          .effort = Effort::kArgument,
          .offer = offer_pin_memory,
          .edit = edit_pin_memory,
          .apply = apply};
}

}  // namespace unstarve::advise
