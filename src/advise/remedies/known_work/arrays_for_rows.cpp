#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry arrays_for_rows_remedy() {
  return known_work_entry({.id = "arrays_for_rows",
                           .share = &diagnose::Signals::fetch_table_rows_ratio,
                           .how = "Take the columns out of the table once, in the data set's "
                                  "`__init__` (`frame[columns].to_numpy()`, "
                                  "`dataset.with_format('numpy')[:]`), and index that "
                                  "array: {share} of making a batch is taking rows out of a table.",
                           .goes = {0.85, 1.0},
                           .makes_samples = true});
}

}  // namespace unstarve::advise
