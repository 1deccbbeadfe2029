#pragma once

#include <string>
#include <utility>
#include <vector>

#include "advise/parts/application.h"
#include "examine/examination.h"

namespace unstarve::trial {

/// What a remedy changed of the loader that feeds the training.
struct LoaderChange {
  std::vector<std::pair<std::string, std::string>> arguments;  // {"num_workers", "8"}
  bool drop_in = false;                                        // unstarve.DataLoader in its place
};

/// From how the loader was before and was with all that `applied` says: what it really got, which
/// may be less than was asked for.
LoaderChange loader_change(const examine::Examination& before, const examine::Examination& after,
                           const advise::Application& applied);

/// "from unstarve import DataLoader", "num_workers=8, prefetch_factor=4 in the DataLoader at ...".
std::string in_words(const LoaderChange& change, const std::string& place);

}  // namespace unstarve::trial
