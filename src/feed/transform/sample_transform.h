#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/random.h"
#include "feed/transform/resize_sink.h"

namespace unstarve::feed {

/// Turns the decoded rows of one sample after another into what a TransformPlan asks for.
///
///   const Box region = transform.begin(image_size, random, out);
///   decoder.decode(region, transform.sink());
///   transform.finish();                        // only now is the sample complete
///
/// Keeps its memory from image to image. Thread rule: one thread at a time.
class SampleTransform {
 public:
  /// kNotSupported when a plan asks for what cannot be done yet.
  static Status check(const TransformPlan& plan);

  /// Both must outlive the object; the plan has passed check().
  SampleTransform(const TransformPlan& plan, const Clock& clock) : plan_(plan), sink_(clock) {}

  /// Draws what is to be done to an image of this size. Returns the rectangle of it that sink()
  /// has to be given; image_bytes(plan) bytes will be at `out`.
  Box begin(ImageSize image, SampleRandom& random, std::uint8_t* out);
  RowSink& sink() { return sink_; }
  void finish() {}

  /// Since begin(), ns.
  std::int64_t spent_ns() const { return sink_.spent_ns(); }

 private:
  const TransformPlan& plan_;
  ResizeSink sink_;
};

}  // namespace unstarve::feed
