#pragma once

#include <string>
#include <vector>

#include "runs/entries.h"

namespace unstarve::report {

/// The object of docs/formats/runs.md. `folder`: in which the runs lie.
std::string runs_json(const std::vector<runs::ListedRun>& listed, const std::string& folder);

}  // namespace unstarve::report
