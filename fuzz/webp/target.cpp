#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "feed/testing/collected_rows.h"
#include "feed/webp/webp_decoder.h"

/// Files come from anywhere. A file that is accepted has every row of its image.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  static feed::WebpDecoder decoder(1 << 16);
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  const auto image = decoder.open(file);
  if (!image) return 0;
  const feed::Box all = {0, 0, image->width, image->height};
  const auto pixels = feed::test::decode_region(decoder, file, all);
  const std::size_t wanted =
      std::size_t{3} * static_cast<std::size_t>(all.width) * static_cast<std::size_t>(all.height);
  if (pixels && pixels->size() != wanted) std::abort();
  return 0;
}
