#pragma once

#include <cstdint>
#include <string>

#include "runs/folder_scan.h"
#include "runs/run_summary.h"

namespace unstarve::runs {

/// Reads a run of the folder `folder`. A run that cannot be read has a `problem`: it is damaged, or
/// of a version that this unstarve does not know. `now_ns`: in ns since 1970.
CollectedRun read_run(const std::string& folder, const FoundRun& found, std::int64_t now_ns);

/// Bytes of the regular files in a folder and below it; links count nothing.
std::int64_t size_on_disk(const std::string& folder);

}  // namespace unstarve::runs
