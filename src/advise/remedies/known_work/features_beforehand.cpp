#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry features_beforehand_remedy() {
  return known_work_entry(
      {.id = "features_beforehand",
       .share = &diagnose::Signals::fetch_sound_ratio,
       .how = "Compute the features of sound once, beforehand, or of whole batches on the "
              "device{cached}: {share} of making a batch goes there.",
       .goes = {0.85, 1.0},
       .makes_samples = true});
}

}  // namespace unstarve::advise
