#pragma once

#include <cstdint>

#include "base/clock.h"
#include "feed/data/geometry.h"
#include "feed/transform/surround.h"
#include "kernels/cubic/cubic_resizer.h"
#include "kernels/strip_resizer.h"

namespace unstarve::feed {

/// Takes rows from the decoder and leaves the resized window, flipped or not, with its frame at
/// `out`: rows of RGB pixels without gaps. Keeps its memory from image to image.
class ResizeSink final : public RowSink {
 public:
  explicit ResizeSink(const Clock& clock) : clock_(clock) {}

  /// Returns the rectangle of the image that the decoder has to deliver.
  Box begin(const SampleGeometry& geometry, std::uint8_t* out);
  void rows(const std::uint8_t* first, std::ptrdiff_t stride, int count) override;
  /// Behind the last row: writes what lies around the image.
  void finish();

  /// Since begin(), ns.
  std::int64_t spent_ns() const { return spent_ns_; }

 private:
  Box begin_copy(const Box& crop, const Box& visible);
  Box begin_resize(const SampleGeometry& geometry, const Box& visible);
  void copy_rows(const std::uint8_t* first, std::ptrdiff_t stride, int count);

  const Clock& clock_;
  kernels::StripResizer bilinear_;
  kernels::CubicResizer bicubic_;
  enum class Way { kCopy, kBilinear, kBicubic };  // kCopy: sizes match
  Way way_ = Way::kCopy;
  bool flip_ = false;
  int width_ = 0;  // kCopy: pixels of a row
  Surround surround_;
  Box inside_;  // the visible part, in the window
  PixelRows window_;
  Padding frame_;
  PixelRows framed_;
  std::uint8_t* out_ = nullptr;    // the visible part's next row
  std::ptrdiff_t out_stride_ = 0;  // below zero when flipped top to bottom
  std::int64_t spent_ns_ = 0;
};

}  // namespace unstarve::feed
