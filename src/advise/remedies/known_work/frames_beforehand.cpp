#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry frames_beforehand_remedy() {
  return known_work_entry(
      {.id = "frames_beforehand",
       .share = &diagnose::Signals::fetch_video_ratio,
       .how = "Decode the frames once, beforehand, into arrays that are mapped into memory, or "
              "read neighbouring frames in order with one reader in each worker{cached}: {share} "
              "of making a batch is decoding and seeking in videos.",
       .goes = {0.5, 1.0},
       .makes_samples = true});
}

}  // namespace unstarve::advise
