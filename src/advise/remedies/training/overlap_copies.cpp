#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"

namespace unstarve::advise {

namespace {

/// Half to all of the time in which nothing but copies runs goes beside the kernels.
Reading<predict::StepEdit> edit(const Situation& situation, std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.5;
  const Reading<double>& copies = situation.signals.exposed_copy_ratio;
  if (!copies) return copies.why_absent();
  const double loader = loader_share(situation.signals);
  return predict::StepEdit{.removed = part_of(*copies, kLeastRemoved, 1),
                           .at_least = {loader, loader}};
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
  entry.edit = edit;
  return entry;
}

}  // namespace unstarve::advise
