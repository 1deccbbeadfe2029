#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry cheaper_collate_remedy() {
  return plain_entry("cheaper_collate", Effort::kRewrite,
                     {
                         {"collate_ipc",
                          "Hand over fewer, larger buffers: return uint8 tensors from the data "
                          "set, let the default collate stack them, convert and normalise whole "
                          "batches, on the GPU where there is one."},
                     });
}

}  // namespace unstarve::advise
