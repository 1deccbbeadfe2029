#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry faster_storage_remedy() {
  return plain_entry("faster_storage", Effort::kEnvironment,
                     {
                         {"storage",
                          "Copy the data set to a local disk, or pack the small files into shards "
                          "that are read in one stream."},
                         {"late_storage",
                          "Copy the data set to a local disk, or pack the small files into shards: "
                          "each file that is opened waits for storage once more."},
                         {"slow_read",
                          "Copy the data set to a local disk, or let it fit into memory: the page "
                          "cache serves what was read before."},
                     });
}

}  // namespace unstarve::advise
