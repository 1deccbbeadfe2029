#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diagnose/signals/host_signals.h"
#include "examine/imported/read_progress.h"
#include "trace/timeline/timeline.h"

namespace unstarve::examine {

/// What somebody else recorded: a trace, an export, a log. Either of the first two may be empty.
struct ImportedFile {
  trace::Timeline timeline;
  diagnose::HostSignals host;
  std::vector<std::string> remarks;  // what it does not hold
};

/// Whether a file is an export of Nsight Systems, whose name often ends as that of a run's store.
Result<bool> is_export(const std::string& path);

/// Reads a file of any kind that observe/import knows, told by what it holds.
Result<ImportedFile> import_file(const std::string& path, const ReadProgress& progress);

}  // namespace unstarve::examine
