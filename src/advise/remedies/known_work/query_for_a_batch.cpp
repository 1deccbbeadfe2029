#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry query_for_a_batch_remedy() {
  return known_work_entry(
      {.id = "query_for_a_batch",
       .share = &diagnose::Signals::fetch_queries_ratio,
       .how = "Ask for a batch by one query: give the data set `__getitems__(indices)`, which the "
              "DataLoader calls with all indices of a batch, or read the table once into arrays. "
              "{share} of making a batch is queries.",
       .goes = {0.5, 1.0}});
}

}  // namespace unstarve::advise
