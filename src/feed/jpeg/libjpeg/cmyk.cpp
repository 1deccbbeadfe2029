#include "feed/jpeg/libjpeg/cmyk.h"

#include <algorithm>

namespace unstarve::feed {
namespace {

/// a * b / 255, rounded, for bytes.
int scale_by(int a, int b) {
  const int product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

}  // namespace

void cmyk_to_rgb(std::uint8_t* row, int pixels) {
  for (int pixel = 0; pixel < pixels; ++pixel) {
    const std::uint8_t* cmyk = row + 4 * pixel;
    const int light = cmyk[3];  // stored inverted: 255 is no black
    const int ink[3] = {255 - cmyk[0], 255 - cmyk[1], 255 - cmyk[2]};
    for (int channel = 0; channel < 3; ++channel) {
      const int value = light - scale_by(ink[channel], light);
      row[3 * pixel + channel] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  }
}

}  // namespace unstarve::feed
