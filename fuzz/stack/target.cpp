#include <cstddef>
#include <cstdint>
#include <string_view>

#include "diagnose/lines/known_calls.h"
#include "trace/timeline/stack_sample.h"

using namespace unstarve;

/// The file of names beside a ring is written by a process of the job: no bytes may crash its
/// readers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)diagnose::what_runs(trace::parse_stack(text));
  return 0;
}
