#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/foreign/foreign_file.h"

/// Whatever a file begins with is of a kind, empty, or in the form of a recording.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view start(reinterpret_cast<const char*>(data), size);
  const auto kind = unstarve::trace::recognise("file.json", start);
  if (kind && *kind > unstarve::trace::ForeignFile::kBinary) std::abort();
  if (kind && size == 0) std::abort();
  return 0;
}
