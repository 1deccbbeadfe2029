#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "feed/source/npy_source.h"

/// Arrays come from anywhere. A header that is accepted lies inside its bytes and its size can be
/// counted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  const auto header = feed::NpyHeader::parse({reinterpret_cast<const std::byte*>(data), size});
  if (!header) return 0;
  UNSTARVE_CHECK(header->data_offset <= size, "the values begin inside the file");
  UNSTARVE_CHECK(!header->shape.empty() && header->item_bytes > 0, "an array has axes");
  return 0;
}
