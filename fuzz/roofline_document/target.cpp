#include <cstddef>
#include <cstdint>
#include <string_view>

#include "roofline/roofs/store/roofline_document.h"

/// What lies in a user's cache may be anybody's file: nothing crashes, and what is accepted is
/// written so that it is accepted again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve::roofline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_roofline_document(text);
  if (document && !parse_roofline_document(write_roofline_document(*document))) return -1;
  return 0;
}
