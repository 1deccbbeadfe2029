#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace unstarve::feed {

struct ImageSize {
  int width = 0;
  int height = 0;
};

/// A rectangle of pixels; x and y count from the top left corner.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// How pixels between source pixels are found; both antialiased when an image shrinks.
enum class Interpolation { kBilinear, kBicubic };

/// What lies around an image, as torchvision's pad() has it.
struct Surround {
  enum class Mode {
    kConstant,   // `colour`
    kEdge,       // the pixels at the edge
    kReflect,    // the image mirrored at the pixels of the edge
    kSymmetric,  // the image mirrored behind them
  };
  Mode mode = Mode::kConstant;
  std::array<std::uint8_t, 3> colour = {};
};

/// What is added to an image's sides, in pixels.
struct Padding {
  int left = 0;
  int top = 0;
  int right = 0;
  int bottom = 0;
  Surround surround = {};
};

/// What happens to the pixels of one sample: `crop` is cut out, resized to `target`, `window` of
/// the result is kept, and mirrored. The window may reach past the target: `surround` is there, as
/// far as the part of the target in the window says. `frame` is added to the window.
struct SampleGeometry {
  Box crop;
  ImageSize target;
  Box window;
  Interpolation interpolation = Interpolation::kBilinear;
  bool flip = false;           // left to right
  bool vertical_flip = false;  // top to bottom
  Surround surround = {};
  Padding frame = {};
};

/// Takes an image as the decoder makes it: a few RGB rows at a time, from top to bottom.
class RowSink {
 public:
  virtual ~RowSink() = default;
  /// The next `count` rows, 1 to kernels::kStripRows of them, `stride` bytes from row to row. They
  /// are there until it returns; each may be read kernels::kRowPadding bytes past its end.
  virtual void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) = 0;
};

}  // namespace unstarve::feed
