#pragma once

#include <cstddef>
#include <cstdint>

namespace unstarve::kernels {

/// The changes of colour of torchvision.transforms.v2.functional on uint8 RGB, with its formulas
/// and roundings: results are truncated, not rounded, and grey is 0.2989 R + 0.587 G + 0.114 B.
enum class ColourOp {
  kBrightness,  // adjust_brightness(factor)
  kContrast,    // adjust_contrast(factor): blends with the mean of the grey image
  kSaturation,  // adjust_saturation(factor): blends with the grey image
  kHue,         // adjust_hue(factor), -0.5 .. 0.5 of a turn
  kGreyscale,   // rgb_to_grayscale(num_output_channels=3); no factor
};

/// Changes `count` interleaved RGB pixels in place. Equal to adjust_colour_plain() where the CPU
/// multiplies and adds in one rounding, within 1 of 255 where it does not.
void adjust_colour(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count);

/// The same, plainly: the reference for the SIMD code.
void adjust_colour_plain(ColourOp op, double factor, std::uint8_t* pixels, std::size_t count);

}  // namespace unstarve::kernels
