#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry chunks_of_samples_remedy() {
  return known_work_entry({.id = "chunks_of_samples",
                           .share = &diagnose::Signals::fetch_array_files_ratio,
                           .how = "Store the arrays in chunks of one sample (`chunks=(1, ...)`) "
                                  "or uncompressed (`np.save`, read with "
                                  "`mmap_mode='r'`), or read a batch by one call in "
                                  "`__getitems__`: {share} of making a batch is reading them, each "
                                  "time a whole chunk.",
                           .goes = {0.3, 1.0}});
}

}  // namespace unstarve::advise
