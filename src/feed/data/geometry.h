#pragma once

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

/// What happens to the pixels of one sample: `crop` is cut out, resized to `target`, `window` of
/// the result is kept, and mirrored. The window may reach past the target: black is there.
struct SampleGeometry {
  Box crop;
  ImageSize target;
  Box window;
  Interpolation interpolation = Interpolation::kBilinear;
  bool flip = false;           // left to right
  bool vertical_flip = false;  // top to bottom
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
