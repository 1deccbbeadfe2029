#include "feed/jpeg/libjpeg/cmyk.h"

#include <algorithm>

#include "feed/data/inks.h"

namespace unstarve::feed {

void cmyk_to_rgb(std::uint8_t* row, int pixels) {
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const std::uint8_t* cmyk = row + 4 * pixel;
    const int light = cmyk[3];  // stored inverted: 255 is no black
    const auto rgb = rgb_of_inks({255 - cmyk[0], 255 - cmyk[1], 255 - cmyk[2]}, light);
    std::copy(rgb.begin(), rgb.end(), row + 3 * pixel);
  }
}

}  // namespace unstarve::feed
