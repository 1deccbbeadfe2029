#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "feed/gif/gif_decoder.h"
#include "feed/testing/collected_rows.h"

/// Files come from anywhere. A file that is accepted has every row of its image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  static feed::GifDecoder decoder(1 << 16);
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  if (!feed::test::has_every_row(decoder, file)) std::abort();
  return 0;
}
