#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry parsed_beforehand_remedy() {
  return known_work_entry({.id = "parsed_beforehand",
                           .share = &diagnose::Signals::fetch_parsing_ratio,
                           .how = "Parse the text once, beforehand, into arrays{cached}: {share} "
                                  "of making a batch is parsing.",
                           .goes = {0.85, 1.0},
                           .makes_samples = true});
}

}  // namespace unstarve::advise
