#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/unique_handle.h"
#include "observe/import/nsys/nsys_export.h"

namespace {

/// What every Timeline promises its readers, whatever the file said.
void check(const unstarve::trace::Timeline& timeline) {
  std::int64_t last = 0;
  for (const auto& op : timeline.device_ops) {
    if (op.end_ns < op.start_ns || op.start_ns < last) std::abort();
    if (op.name >= timeline.names.size() || op.bytes < 0) std::abort();
    last = op.start_ns;
  }
  last = 0;
  for (const auto& call : timeline.host_calls) {
    if (call.end_ns < call.start_ns || call.start_ns < last) std::abort();
    if (call.name >= timeline.names.size()) std::abort();
    last = call.start_ns;
  }
  for (const auto& step : timeline.steps) {
    if (step.when.duration_ns() < 0) std::abort();
  }
}

}  // namespace

/// An export comes from anybody: any bytes end in a Timeline or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const unstarve::FileDescriptor file(::memfd_create("export", MFD_CLOEXEC));
  if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) return -1;
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  unstarve::observe::ImportOptions options;
  options.max_events = 10'000;
  options.max_name_bytes = 100'000;
  (void)unstarve::observe::is_nsys_export(path);
  const auto imported = unstarve::observe::import_nsys(path, options);
  if (imported) {
    check(imported->timeline);
  } else if (imported.error().message.empty()) {
    std::abort();
  }
  return 0;
}
