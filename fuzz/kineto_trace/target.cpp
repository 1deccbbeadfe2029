#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "observe/import/kineto.h"

namespace {

/// What every Timeline promises its readers, whatever the file said.
void check(const unstarve::trace::Timeline& timeline) {
  std::int64_t last = INT64_MIN;
  for (const auto& op : timeline.device_ops) {
    if (op.end_ns < op.start_ns || op.start_ns < last) std::abort();
    if (op.name >= timeline.names.size() || op.bytes < 0) std::abort();
    last = op.start_ns;
  }
  last = INT64_MIN;
  for (const auto& call : timeline.host_calls) {
    if (call.end_ns < call.start_ns || call.start_ns < last) std::abort();
    if (call.name >= timeline.names.size()) std::abort();
    last = call.start_ns;
  }
  for (const auto& step : timeline.steps) {
    if (step.when.duration_ns() < 0) std::abort();
  }
  for (const auto& wait : timeline.loader_waits) {
    if (wait.when.duration_ns() < 0) std::abort();
  }
}

}  // namespace

/// A trace comes from anybody: any bytes, plain or gzip, end in a Timeline or an Error. The small
/// window makes events straddle its end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  unstarve::observe::ImportOptions options;
  options.window_bytes = 256;
  options.max_value_bytes = 64 * 1024;
  options.max_events = 10'000;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const auto timeline = unstarve::observe::import_kineto_bytes(bytes, "fuzz.json", options);
  if (timeline) {
    check(*timeline);
  } else if (timeline.error().message.empty()) {
    std::abort();
  }
  return 0;
}
