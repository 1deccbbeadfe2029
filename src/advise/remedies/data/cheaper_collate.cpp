#include "advise/catalogue.h"
#include "advise/known_work.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_cheaper_collate(const Situation& situation, std::string_view rule) {
  if (rule != "collate_ipc" || has_known_work(situation.signals)) return std::nullopt;
  Remedy remedy;
  remedy.how = loads_images(situation.signals, situation.job)
                   ? "Hand over fewer, larger buffers: return uint8 tensors from the data set, let "
                     "the default collate stack them, convert and normalise whole batches, on the "
                     "GPU where there is one."
                   : "Hand over fewer, larger buffers: return one array for each field of a "
                     "sample, in the type in which it is stored, and convert whole batches.";
  return remedy;
}

}  // namespace

CatalogueEntry cheaper_collate_remedy() {
  return {.id = "cheaper_collate", .effort = Effort::kRewrite, .offer = offer_cheaper_collate};
}

}  // namespace unstarve::advise
