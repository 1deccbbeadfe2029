#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry fit_page_cache_remedy() {
  return plain_entry(
      "fit_page_cache", Effort::kEnvironment,
      {
          {"page_cache_miss",
           "Let the data set fit into memory: smaller images, shards read in "
           "sequence, or a larger memory limit; the first epoch misses in any case."},
      });
}

}  // namespace unstarve::advise
