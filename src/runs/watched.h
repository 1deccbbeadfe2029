#pragma once

#include <string>
#include <vector>

#include "host/host_files.h"

namespace unstarve::runs {

/// The folders of the runs whose stores processes named `unstarve` on this machine hold open: the
/// jobs that are watched now, as far as this user may look at processes. Sorted.
std::vector<std::string> watched_runs(const host::HostFiles& files);

}  // namespace unstarve::runs
