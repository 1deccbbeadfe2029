#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry cheaper_transforms_remedy() {
  return plain_entry("cheaper_transforms", Effort::kRewrite,
                     {
                         {"python_transform",
                          "Do less per sample in Python: transform whole batches on the GPU, use "
                          "torchvision v2 on uint8 tensors, resize the data set once beforehand."},
                         {"slow_transform",
                          "Normalise, convert and jitter colours on the GPU, where whole batches "
                          "of uint8 pixels cost little; store images in a size nearer to the one "
                          "that comes out."},
                     });
}

}  // namespace unstarve::advise
