#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "predict/track_record.h"

namespace unstarve::examine {

/// Predictions that were tried in the runs below `folder` (runs/, as `unstarve run` makes it),
/// newest run first, of the 500 newest runs. Runs that cannot be read are passed over.
/// Errors: kNotFound where there is no such folder.
Result<std::vector<predict::TriedPrediction>> read_tried_predictions(const std::string& folder);

/// The folder beside whose runs `run_dir` lies: that of its trials counts as one run.
std::string folder_of_runs(const std::string& run_dir);

}  // namespace unstarve::examine
