#include "feed/transform/sample_transform.h"

#include "feed/transform/draw_geometry.h"

namespace unstarve::feed {

Status SampleTransform::check(const TransformPlan& plan) {
  if (plan.geometry.interpolation != Interpolation::kBilinear) {
    return fail(ErrorCode::kNotSupported, "bicubic interpolation is not built in yet");
  }
  if (!plan.colour.empty() || plan.erasing) {
    return fail(ErrorCode::kNotSupported, "changes of colour and erasing are not built in yet");
  }
  if (plan.output.type != OutputPlan::Type::kUint8 ||
      plan.output.layout != OutputPlan::Layout::kNhwc) {
    return fail(ErrorCode::kNotSupported, "output other than uint8 NHWC is not built in yet");
  }
  return {};
}

Box SampleTransform::begin(ImageSize image, SampleRandom& random, std::uint8_t* out) {
  return sink_.begin(draw_geometry(plan_.geometry, image, random), out);
}

}  // namespace unstarve::feed
