#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/text/hook_text.h"
#include "trace/timeline/timeline.h"

namespace unstarve::observe {

/// Whether something other than a profiled window recorded the device activity of a process.
bool has_device_activity(const trace::Timeline& run, std::int64_t process);

/// Puts the device operations and the host's calls of a trace that torch.profiler wrote in
/// `process` into the run, and the window in which they were recorded. The trace's steps and waits
/// are left out: the hook recorded them. Sorted again when it returns; on an error the run is as it
/// was. Errors: what import_kineto() says; kNotSupported where the clocks cannot be aligned well
/// enough, or the trace holds no GPU activity.
Status add_profiled_window(const std::string& path, std::int64_t process,
                           const trace::ProfileText& profile, trace::Timeline& run);

}  // namespace unstarve::observe
