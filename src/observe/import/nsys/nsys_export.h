#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "observe/import/kineto.h"
#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// An export as a Timeline, and in words what it does not hold.
struct NsysImport {
  trace::Timeline timeline;
  std::vector<std::string> remarks;
};

/// Whether a file is an SQLite export of Nsight Systems, told by its tables. An SQLite file of
/// another kind and any other file are not; an error is only a damaged SQLite file.
Result<bool> is_nsys_export(const std::string& path);

/// Reads what `nsys export --type sqlite` wrote into a Timeline: kernels, copies, memsets, graphs,
/// calls of the runtime and the driver, and of the NVTX ranges those that mark steps and waits for
/// a loader. Versions of the schema differ in their tables and columns: what is there is read, and
/// remarks say what is not. Devices are numbered as the machine does where the export says how;
/// times keep its own clock, in nanoseconds.
///
/// Errors name the file: kCorruptData for what is damaged, is no export or breaks a limit of
/// `options` (of which the window and the longest value do not matter here). Rows that make no
/// sense are counted in events_lost.
Result<NsysImport> import_nsys(const std::string& path, const ImportOptions& options = {});

}  // namespace unstarve::observe
