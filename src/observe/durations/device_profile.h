#pragma once

#include <string>

#include "base/result.h"
#include "observe/durations/traced_event.h"

namespace unstarve::observe {

/// A profile for the GPU that a trace was recorded on, as a document for parse_profile(): the one
/// of that name that comes with unstarve, else the nearest of its generation with as many
/// multiprocessors and as much memory as the trace says. Errors: kNotFound where the trace says
/// neither.
Result<std::string> device_profile(const TracedDevice& device);

}  // namespace unstarve::observe
