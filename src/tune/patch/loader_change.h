#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/parts/application.h"
#include "examine/examination.h"
#include "script/edited_script.h"

namespace unstarve::tune {

/// What a remedy changed of the loader that feeds the training.
struct LoaderChange {
  std::vector<std::pair<std::string, std::string>> arguments = {};  // {"num_workers", "8"}
  bool drop_in = false;  // unstarve.DataLoader in its place
  bool cached = false;   // unstarve.cached() around its data
};

/// From how the loader was before and was with all that `applied` says: what it really got, which
/// may be less than was asked for.
LoaderChange loader_change(const examine::Examination& before, const examine::Examination& after,
                           const advise::Application& applied);

/// The job's file with the change in it, at a place such as "train.py:41"; without a diff, and with
/// the reason, where that is not certain to do the same. `python`: an interpreter, which reads the
/// file. None where no file is known, or nothing changes.
std::optional<script::EditedScript> written_change(const std::string& python,
                                                   const std::string& file,
                                                   const std::string& place,
                                                   const LoaderChange& change);

/// "from unstarve import DataLoader", "num_workers=8, prefetch_factor=4 in the DataLoader at ...".
std::string in_words(const LoaderChange& change, const std::string& place);

}  // namespace unstarve::tune
