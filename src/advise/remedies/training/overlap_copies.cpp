#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"

namespace unstarve::advise {

namespace {

/// Half to all of the time in which nothing but copies runs goes beside the kernels, as far as
/// these last: a step takes as long as its copies do.
Reading<predict::StepEdit> edit_overlap_copies(const Situation& situation,
                                               std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.5;
  const Reading<double>& copies = situation.signals.exposed_copy_ratio;
  if (!copies) return copies.why_absent();
  const double beside = std::clamp(situation.signals.copy_overlap_ratio.value_or(0), 0.0, 0.9);
  const double least = std::max(loader_share(situation.signals), *copies / (1 - beside));
  return predict::StepEdit{.removed = part_of(*copies, kLeastRemoved, 1),
                           .at_least = {least, least}};
}

}  // namespace

CatalogueEntry overlap_copies_remedy() {
  CatalogueEntry entry =
      plain_entry("overlap_copies", Effort::kRewrite,
                  {
                      {"no_overlap",
                       "Copy the next batch on a stream of its own while the present one computes "
                       "(a device prefetcher); it needs pinned memory."},
                  });
  entry.edit = edit_overlap_copies;
  return entry;
}

}  // namespace unstarve::advise
