#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry kept_connection_remedy() {
  return known_work_entry(
      {.id = "kept_connection",
       .share = &diagnose::Signals::fetch_connecting_ratio,
       .how = "Keep one connection in each worker, made when its first sample is asked for "
              "(`requests.Session()`, one cursor): {share} of making a batch is connecting anew.",
       .goes = {0.8, 1.0},
       .lightens = &diagnose::Signals::fetch_queries_ratio});
}

}  // namespace unstarve::advise
