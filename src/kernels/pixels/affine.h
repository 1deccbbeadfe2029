#pragma once

#include <array>
#include <cstdint>

namespace unstarve::kernels {

/// Where an output pixel comes from: x of the input is a x + b y + c, y is d x + e y + f, where
/// (x, y) is the centre of the output's pixel. As Pillow's Image.transform(AFFINE) has it.
struct AffineMap {
  double a = 1.0;
  double b = 0.0;
  double c = 0.0;
  double d = 0.0;
  double e = 1.0;
  double f = 0.0;
};

/// How values between pixels are made, and what is where the input has none.
struct AffineFill {
  enum class Between {
    kNearest,   // the pixel that the place lies in
    kBilinear,  // of two by two pixels
    kBicubic,   // of four by four, with Pillow's cubic (a = -1)
  };
  Between between = Between::kNearest;
  std::array<std::uint8_t, 3> colour = {};
};

/// Interleaved RGB pixels, at most 16384 a side.
struct PixelView {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
};

/// Moves pixels; `out` is as large as `in` and does not overlap it. The pixels of Pillow: equal
/// where they are not blended, within 1 where they are.
void move_pixels(const AffineMap& map, const AffineFill& fill, const PixelView& in,
                 std::uint8_t* out);

/// The same, plainly: the reference.
void move_pixels_plain(const AffineMap& map, const AffineFill& fill, const PixelView& in,
                       std::uint8_t* out);

}  // namespace unstarve::kernels
