#include <algorithm>
#include <cmath>

#include "kernels/pixels/colour_adjust.h"

namespace unstarve::kernels {
namespace {

std::uint8_t truncated(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

/// Rounded down, as torchvision does before it blends. torch adds with one rounding (fma).
float grey_of(const std::uint8_t* pixel) {
  float grey = static_cast<float>(pixel[0]) * 0.2989F;
  grey = std::fma(static_cast<float>(pixel[1]), 0.587F, grey);
  grey = std::fma(static_cast<float>(pixel[2]), 0.114F, grey);
  return std::floor(grey);
}

float mean_grey(const std::uint8_t* pixels, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += double{grey_of(pixels + 3 * i)};
  return static_cast<float>(sum / static_cast<double>(count));
}

std::uint8_t blended(std::uint8_t value, float other, double factor) {
  const float part = static_cast<float>(value) * static_cast<float>(factor);
  return truncated(std::fma(other, static_cast<float>(1.0 - factor), part));
}

void shift_hue(std::uint8_t* pixel, float shift) {
  const auto unit = [pixel](int channel) {
    return static_cast<float>(pixel[channel]) * static_cast<float>(1.0 / 255);
  };
  const float red = unit(0);
  const float green = unit(1);
  const float blue = unit(2);
  const float high = std::max({red, green, blue});
  const float range = high - std::min({red, green, blue});
  const bool is_grey = range == 0;
  const float saturation = range / (is_grey ? 1.0F : high);
  const float divisor = is_grey ? 1.0F : range;
  const float to_red = (high - red) / divisor;
  const float to_green = (high - green) / divisor;
  const float to_blue = (high - blue) / divisor;
  float hue = 0;
  if (high == red) {
    hue = to_blue - to_green;
  } else if (high == green) {
    hue = to_red + 2.0F - to_blue;
  } else {
    hue = to_green + 4.0F - to_red;
  }
  hue = hue * static_cast<float>(1.0 / 6) + 1.0F;
  hue = hue - std::trunc(hue) + shift;
  hue = hue - std::floor(hue);

  const float sixths = hue * 6.0F;
  const float sector = std::floor(sixths);
  const float fraction = sixths - sector;
  const auto times_high = [high](float part) { return std::clamp(part * high, 0.0F, 1.0F); };
  const float scaled = saturation * fraction;
  const float q = times_high(1.0F - scaled);
  const float t = times_high(scaled + (1.0F - saturation));
  const float p = times_high(1.0F - saturation);
  const float reds[6] = {high, q, p, p, t, high};
  const float greens[6] = {t, high, high, q, p, p};
  const float blues[6] = {p, p, t, high, high, q};
  const int index = static_cast<int>(sector) % 6;
  // As torchvision goes from a float image back to bytes.
  constexpr float kToByte = 255.999F;
  pixel[0] = truncated(reds[index] * kToByte);
  pixel[1] = truncated(greens[index] * kToByte);
  pixel[2] = truncated(blues[index] * kToByte);
}

}  // namespace

void adjust_colour_plain(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count) {
  if (count == 0) return;
  const float mean = op == ColourOp::kContrast ? mean_grey(pixels, count) : 0.0F;
  for (std::uint8_t* pixel = pixels; pixel != pixels + 3 * count; pixel += 3) {
    const float grey = grey_of(pixel);
    for (int channel = 0; channel < 3; ++channel) {
      std::uint8_t& value = pixel[channel];
      if (op == ColourOp::kBrightness) {
        value = truncated(static_cast<float>(value) * static_cast<float>(factor));
      }
      if (op == ColourOp::kContrast) value = blended(value, mean, factor);
      if (op == ColourOp::kSaturation) value = blended(value, grey, factor);
      if (op == ColourOp::kGreyscale) value = truncated(grey);
    }
    if (op == ColourOp::kHue) shift_hue(pixel, static_cast<float>(factor));
  }
}

}  // namespace unstarve::kernels
