#include "advise/catalogue.h"

namespace unstarve::advise {

CatalogueEntry raise_cpu_quota_remedy() {
  return plain_entry(
      "raise_cpu_quota", Effort::kEnvironment,
      {
          {"cpu_quota", "Raise the container's CPU limit; more workers do not help below it."},
      });
}

}  // namespace unstarve::advise
