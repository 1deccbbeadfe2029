#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry fewer_copies_remedy() {
  return plain_entry(
      "fewer_copies", Effort::kRewrite,
      {
          {"small_copies", "Put what a step needs into one buffer and copy that once."},
      });
}

}  // namespace unstarve::advise
