#include "feed/transform/sample_transform.h"

#include "feed/transform/draw_geometry.h"
#include "feed/transform/erase.h"
#include "kernels/noise/normal_noise.h"
#include "kernels/pixels/normalise.h"

namespace unstarve::feed {
namespace {

std::size_t pixel_count(const TransformPlan& plan) {
  const ImageSize& size = plan.geometry.size;
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height);
}

kernels::ValueType value_type(OutputPlan::Type type) {
  switch (type) {
    case OutputPlan::Type::kUint8: return kernels::ValueType::kUint8;
    case OutputPlan::Type::kFloat32: return kernels::ValueType::kFloat32;
    case OutputPlan::Type::kFloat16: return kernels::ValueType::kFloat16;
    case OutputPlan::Type::kBfloat16: return kernels::ValueType::kBfloat16;
  }
  return kernels::ValueType::kUint8;
}

kernels::Conversion conversion_of(const OutputPlan& output) {
  kernels::Conversion conversion;
  conversion.type = value_type(output.type);
  conversion.planar = output.layout == OutputPlan::Layout::kNchw;
  if (output.scale_to_unit) {
    conversion.scale =
        output.scale_by_reciprocal ? kernels::ValueScale::kMultiply : kernels::ValueScale::kDivide;
  }
  if (output.mean && output.deviation) {
    conversion.normalise = true;
    conversion.mean = *output.mean;
    conversion.deviation = *output.deviation;
  }
  return conversion;
}

}  // namespace

void draw_sample(const TransformPlan& plan, ImageSize image, SampleRandom& random,
                 SampleDraw& draw) {
  draw.geometry = draw_geometry(plan.geometry, image, random);
  draw_pixels(plan.colour, plan.geometry.size, random, draw.pixels);
  draw.is_noisy = plan.noise && random.uniform() < plan.noise->probability;
  draw.erased.reset();
  if (plan.erasing) draw.erased = draw_erasing(*plan.erasing, plan.geometry.size, random);
}

SampleTransform::SampleTransform(const TransformPlan& plan, const Clock& clock)
    : plan_(plan),
      clock_(clock),
      sink_(clock),
      conversion_(conversion_of(plan.output)),
      converts_(conversion_.type != kernels::ValueType::kUint8 || conversion_.planar),
      noise_(DrawKey{}) {}

Box SampleTransform::begin(ImageSize image, SampleRandom& random, std::uint8_t* out) {
  draw_sample(plan_, image, random, draw_);
  noise_ = random;
  out_ = out;
  if (converts_) scratch_.resize(3 * pixel_count(plan_));
  pixels_ = converts_ ? scratch_.data() : out;
  finish_ns_ = 0;
  return sink_.begin(draw_.geometry, pixels_);
}

Status SampleTransform::finish() {
  sink_.finish();
  if (!converts_ && draw_.pixels.empty() && !draw_.erased) return {};
  const std::int64_t begun_ns = clock_.now_ns();
  for (const PixelDraw& change : draw_.pixels) {
    if (Status status = change_pixels(change); !status) return status;
  }
  if (converts_) convert();
  if (draw_.erased) erase(plan_, *draw_.erased, noise_, out_);
  finish_ns_ = clock_.now_ns() - begun_ns;
  return {};
}

void SampleTransform::convert() {
  const std::size_t count = pixel_count(plan_);
  if (!draw_.is_noisy) return kernels::convert_pixels(conversion_, pixels_, count, out_);
  const NoisePlan& plan = *plan_.noise;
  kernels::Conversion conversion = conversion_;
  if (!plan.after_normalising) conversion.normalise = false;
  kernels::convert_pixels(conversion, pixels_, count, out_);
  // Noise is of float32 alone, to which `out_` is aligned.
  auto* const values = static_cast<float*>(static_cast<void*>(out_));
  const kernels::NormalNoise noise = {static_cast<float>(plan.mean),
                                      static_cast<float>(plan.deviation), plan.clips};
  kernels::add_noise(noise, noise_.noise_key(), values, 3 * count);
  if (conversion.normalise == conversion_.normalise) return;
  kernels::normalise({conversion_.mean, conversion_.deviation, conversion_.planar}, values, count,
                     values);
}

Status SampleTransform::change_pixels(const PixelDraw& change) {
  const ImageSize& size = plan_.geometry.size;
  const std::size_t count = pixel_count(plan_);
  switch (change.kind) {
    case PixelDraw::Kind::kColour:
      kernels::adjust_colour(change.colour, change.factor, pixels_, count);
      break;
    case PixelDraw::Kind::kTone:
      kernels::adjust_tone(change.tone, change.factor, pixels_, count);
      break;
    case PixelDraw::Kind::kSharpness:
      kernels::adjust_sharpness(change.factor, pixels_, size.width, size.height, moved_);
      break;
    case PixelDraw::Kind::kBlur:
      kernels::blur_pixels(change.blur, pixels_, size.width, size.height, blurred_);
      break;
    case PixelDraw::Kind::kPlaces:
      moved_.assign(pixels_, pixels_ + 3 * count);
      kernels::move_pixels(change.places, change.fill, {moved_.data(), size.width, size.height},
                           pixels_);
      break;
    case PixelDraw::Kind::kPerspective:
      moved_.assign(pixels_, pixels_ + 3 * count);
      kernels::project_pixels(change.perspective, {change.fill, change.edges},
                              {moved_.data(), size.width, size.height}, pixels_);
      break;
    case PixelDraw::Kind::kElastic:
      moved_.assign(pixels_, pixels_ + 3 * count);
      kernels::draw_displacement(change.elastic, change.seed, size.width, size.height,
                                 displacement_);
      kernels::displace_pixels(displacement_, {change.fill, change.edges},
                               {moved_.data(), size.width, size.height}, pixels_);
      break;
    case PixelDraw::Kind::kMixBegin:
      mix_.begin(static_cast<float>(change.factor), pixels_, 3 * count);
      break;
    case PixelDraw::Kind::kMixAdd: mix_.add(static_cast<float>(change.factor), pixels_); break;
    case PixelDraw::Kind::kMixEnd: mix_.finish(pixels_); break;
    case PixelDraw::Kind::kJpeg: return jpeg_.apply(change.quality, {pixels_, 3 * count}, size);
  }
  return {};
}

}  // namespace unstarve::feed
