#pragma once

#include <string>
#include <utility>
#include <vector>

namespace unstarve::isolation {

/// The variables by which W&B, MLflow, Comet, Neptune, ClearML, SwanLab, Trackio and DVC are told
/// to report to nobody: what a server was told cannot be taken back. What they then write by
/// themselves goes below `folder`.
std::vector<std::pair<std::string, std::string>> trackers_off(const std::string& folder);

}  // namespace unstarve::isolation
