#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry cheaper_collate_remedy() {
  return plain_entry("cheaper_collate", Effort::kRewrite,
                     {
                         {"collate_ipc",
                          "Hand over fewer, larger buffers: return uint8 tensors from the data "
                          "set, let the default collate stack them, convert and normalise on the "
                          "GPU."},
                     });
}

}  // namespace unstarve::advise
