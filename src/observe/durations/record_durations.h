#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "emulated/duration/duration_table.h"
#include "observe/durations/traced_event.h"
#include "observe/import/kineto.h"

namespace unstarve::observe {

/// What a trace of a real GPU says of durations.
struct RecordedDurations {
  emulated::Recording recording;
  std::optional<TracedDevice> device;     // the first of the trace; nothing where it names none
  std::int64_t kernels = 0;               // recorded launches
  std::int64_t operations = 0;            // of libraries, with shapes and kernels
  std::int64_t shapeless_operations = 0;  // recorded without shapes: profile with record_shapes
};

/// Reads a PyTorch profiler (Kineto) trace, plain or gzip: kernels by name, grid and block;
/// products and convolutions by shape, each with the time of the library's kernels that it
/// launched.
///
///   Result<RecordedDurations> durations = record_durations("trace.json.gz");
///
/// Errors name the file and the byte; a trace without any kernel is an error too.
Result<RecordedDurations> record_durations(const std::string& path,
                                           const ImportOptions& options = {});

/// The same from events that were read.
RecordedDurations record_durations(const TracedEventReader& events, const std::string& source);

}  // namespace unstarve::observe
