#include "advise/known_work.h"

namespace unstarve::advise {

CatalogueEntry tokens_beforehand_remedy() {
  return known_work_entry(
      {.id = "tokens_beforehand",
       .share = &diagnose::Signals::fetch_tokenizing_ratio,
       .how = "Tokenize the texts once, before the training and in batches (`dataset.map(tokenize, "
              "batched=True)`){cached}: {share} of making a batch is tokenizing.",
       .goes = {0.9, 1.0},
       .makes_samples = true});
}

}  // namespace unstarve::advise
