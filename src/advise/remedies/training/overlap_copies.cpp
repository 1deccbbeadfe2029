#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry overlap_copies_remedy() {
  return plain_entry("overlap_copies", Effort::kRewrite,
                     {
                         {"no_overlap",
                          "Copy the next batch on a stream of its own while the present one "
                          "computes (a device prefetcher); it needs pinned memory."},
                     });
}

}  // namespace unstarve::advise
