#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "feed/formats/colour_mode.h"
#include "feed/formats/image_format.h"
#include "feed/formats/orientation.h"

/// Files come from anywhere. Of each is said whether it may have to be turned, and whether it is
/// RGB. A JPEG that is cut before its pixels begin may be anything.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace unstarve;
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  (void)feed::may_be_turned(file);
  (void)feed::exif_may_turn(file);
  (void)feed::png_may_turn(file);
  (void)feed::webp_may_turn(file);
  (void)feed::png_is_rgb(file);
  (void)feed::webp_is_rgb(file);
  if (size < 4 && !feed::jpeg_may_turn(file)) std::abort();
  if (size < 10 && feed::jpeg_is_rgb(file)) std::abort();
  return 0;
}
