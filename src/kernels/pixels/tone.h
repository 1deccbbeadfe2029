#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace unstarve::kernels {

/// Changes of each value by itself, or by how often each value is there, as
/// torchvision.transforms.v2.functional does them on uint8 RGB, and Pillow's ImageOps.
enum class ToneOp {
  kPosterize,     // posterize(bits): the `bits` highest bits are kept, 0 to 8
  kSolarize,      // solarize(threshold): values from it on are inverted
  kAutoContrast,  // autocontrast(): each channel's values reach from 0 to 255
  kEqualize,      // equalize(): each channel's values are as frequent as each other
  kInvert,        // invert()
  kSolarizeAdd,   // values below 128 become lighter by as much, up to 255 (timm's SolarizeAdd)
};

/// Changes `count` interleaved RGB pixels in place. `value` is what the operation is given.
void adjust_tone(ToneOp op, double value, std::uint8_t* pixels, std::size_t count);

/// adjust_sharpness(factor) in place: blends with the image smoothed by 3 x 3 pixels (the centre
/// counts five times), the outermost pixels aside. `rows` is scratch memory.
void adjust_sharpness(double factor, std::uint8_t* pixels, int width, int height,
                      std::vector<std::uint8_t>& rows);

}  // namespace unstarve::kernels
