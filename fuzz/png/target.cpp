#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "feed/png/png_decoder.h"
#include "feed/png/testing/made_png.h"
#include "feed/testing/collected_rows.h"

/// Files come from anywhere. A file that is accepted has every row of its image. Input that is no
/// PNG becomes one with sound checksums: six bytes of header, the number of colours, rows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  static feed::PngDecoder decoder(1 << 16);
  const std::span<const std::uint8_t> input(data, size);
  std::span<const std::byte> file = std::as_bytes(input);
  feed::test::FileBytes made;
  constexpr std::size_t kBefore = 6;
  if (!feed::is_png(file) && size > kBefore) {
    const std::size_t colours = std::min<std::size_t>(data[5], (size - kBefore) / 3);
    const auto palette = input.subspan(kBefore, 3 * colours);
    made = feed::test::made_png({.width = data[0],
                                 .height = data[1],
                                 .depth = data[2],
                                 .colour = data[3],
                                 .interlaced = data[4],
                                 .palette = {palette.begin(), palette.end()}},
                                input.subspan(kBefore + palette.size()));
    file = made;
  }
  if (!feed::test::has_every_row(decoder, file)) std::abort();
  return 0;
}
