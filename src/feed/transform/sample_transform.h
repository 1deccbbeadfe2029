#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/jpeg/libjpeg/jpeg_loss.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"
#include "feed/transform/resize_sink.h"
#include "kernels/pixels/convert.h"
#include "kernels/pixels/mix.h"

namespace unstarve::feed {

/// Everything that is drawn for one sample.
struct SampleDraw {
  SampleGeometry geometry;
  std::vector<PixelDraw> pixels;  // in the order in which they are applied
  bool is_noisy = false;
  std::optional<Box> erased;  // of the output
};

/// Draws for an image of this size; `draw` is overwritten and keeps its memory.
void draw_sample(const TransformPlan& plan, ImageSize image, SampleRandom& random,
                 SampleDraw& draw);

/// Turns the decoded rows of one sample after another into what a TransformPlan asks for.
///
///   const Box region = transform.begin(image_size, random, out);
///   decoder.decode(region, transform.sink());
///   Status status = transform.finish();         // only now is the sample complete
///
/// uint8 NHWC is written to `out` at once and changed in place; for every other output the resized
/// image lies in scratch memory, from which one pass converts it to `out`.
/// Keeps its memory from image to image. Thread rule: one thread at a time.
class SampleTransform {
 public:
  /// Both must outlive the object; the plan has passed validate().
  SampleTransform(const TransformPlan& plan, const Clock& clock);

  /// Draws what is to be done to an image of this size. Returns the rectangle of it that sink()
  /// has to be given; image_bytes(plan) bytes will be at `out`, which is aligned to their type.
  Box begin(ImageSize image, SampleRandom& random, std::uint8_t* out);
  RowSink& sink() { return sink_; }
  Status finish();

  /// Since begin(), ns.
  std::int64_t spent_ns() const { return sink_.spent_ns() + finish_ns_; }

 private:
  Status change_pixels(const PixelDraw& change);
  /// The pixels as the plan's output, noise included.
  void convert();

  const TransformPlan& plan_;
  const Clock& clock_;
  ResizeSink sink_;
  kernels::Conversion conversion_;
  bool converts_ = false;
  SampleDraw draw_;
  SampleRandom noise_;
  std::vector<std::uint8_t> scratch_;
  std::vector<std::uint8_t> moved_;  // the pixels before they are moved, or rows of them
  std::vector<float> blurred_;       // rows that are blurred in one direction
  kernels::ImageMix mix_;
  JpegLoss jpeg_;
  kernels::Displacement displacement_;
  std::uint8_t* pixels_ = nullptr;  // the resized image: scratch_, or out_
  std::uint8_t* out_ = nullptr;
  std::int64_t finish_ns_ = 0;
};

}  // namespace unstarve::feed
