#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry pad_shapes_remedy() {
  return plain_entry("pad_shapes", Effort::kRewrite,
                     {
                         {"misaligned_shapes",
                          "Pad the vocabulary, hidden sizes and channels to a multiple of 8 (64 "
                          "is best on an A100); the batch matters less."},
                     });
}

}  // namespace unstarve::advise
