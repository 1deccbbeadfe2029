#pragma once

#include <vector>

#include "advise/catalogue.h"

namespace unstarve::advise {

/// The entry of each file in remedies/, in no order. The build writes this function.
std::vector<CatalogueEntry> all_remedies();

}  // namespace unstarve::advise
