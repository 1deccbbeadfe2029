#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry kept_file_remedy() {
  return known_work_entry({.id = "kept_file",
                           .share = &diagnose::Signals::fetch_opening_ratio,
                           .how = "Open the file once in each worker, when its first sample is "
                                  "asked for, and keep it: {share} of making a batch is opening it "
                                  "anew.",
                           .goes = {0.8, 1.0},
                           .lightens = &diagnose::Signals::fetch_array_files_ratio});
}

}  // namespace unstarve::advise
