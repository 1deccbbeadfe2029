#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/events/events_file.h"
#include "trace/testing/recorded_rows.h"

/// An events file may be cut off, damaged, or somebody else's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data)), size);
  unstarve::trace::RecordedRows rows;
  (void)unstarve::trace::read_events_bytes(bytes, "input", rows);
  return 0;
}
