#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::launch {

/// Makes a new folder for a run below `parent`, named by the local time and the script:
/// "runs/2026-05-01_14-03-22_train". Several commands of the same second get one each
/// ("..._train-2"), since only one of them can make it.
Result<std::string> make_run_folder(const std::string& parent,
                                    const std::vector<std::string>& command);

/// Takes away what was made in `folder` for a job that then did not start, and the folder too,
/// unless it holds something else.
void remove_run_folder(const std::string& folder);

}  // namespace unstarve::launch
