#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry stored_uncompressed_remedy() {
  return known_work_entry({.id = "stored_uncompressed",
                           .share = &diagnose::Signals::fetch_decompressing_ratio,
                           .how =
                               "Store the files uncompressed (arrays by `np.save` in the place of "
                               "`.npz`, read with `mmap_mode='r'`), or by a codec that is made "
                               "for reading often (lz4, zstd): {share} of making a batch is "
                               "decompressing.",
                           .goes = {0.7, 1.0}});
}

}  // namespace unstarve::advise
