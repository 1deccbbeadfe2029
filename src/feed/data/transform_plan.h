#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "feed/data/augment_plan.h"
#include "feed/data/geometry.h"

namespace unstarve::feed {

/// Which pixels of an image are kept, and how large. The draws follow torchvision.
struct GeometryPlan {
  enum class Kind {
    kRandomResizedCrop,  // a random box, resized to `size`
    kResizeCenterCrop,   // resized as below, then `size` cut from the centre
    kResizeRandomCrop,   // resized as below, then `size`, which must fit, cut from anywhere
    kResize,             // the whole image resized to `size`
    kCenterCrop,  // `size` cut from the centre, not resized; zeros where the image is smaller
    kRandomCrop,  // `size` cut from anywhere, not resized; fits() says whether it can be
  };
  Kind kind = Kind::kRandomResizedCrop;
  ImageSize size = {224, 224};  // of the output, `frame` included
  int resize_short = 256;       // kResizeCenterCrop, kResizeRandomCrop: the shorter side's length
  ImageSize resize_to = {};     // the same: this size instead, unless it is zero
  Padding padding = {};         // kResizeRandomCrop, kRandomCrop: around what is cut from
  Padding frame = {};           // around what has been cut, resized and flipped
  bool pads_if_needed = false;  // kRandomCrop: an image too small gets as much more on both sides
                                // as it lacks
  double scale_min = 0.08;      // kRandomResizedCrop: bounds of the crop's share of the area
  double scale_max = 1.0;
  double ratio_min = 3.0 / 4.0;  // kRandomResizedCrop: bounds of the crop's width / height
  double ratio_max = 4.0 / 3.0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool either_interpolation = false;  // bilinear or bicubic, drawn evenly for each sample
  double horizontal_flip_probability = 0.0;
  double vertical_flip_probability = 0.0;
};

/// The output without its frame.
ImageSize framed_size(const GeometryPlan& plan);

/// Whether what is to be cut from an image of this size, and the padding around it, is there.
bool fits(const GeometryPlan& plan, ImageSize image);

struct ColourChoice;

/// One change of colours, as torchvision's ColorJitter or RandomGrayscale, an augmentation, a
/// blur, a map of places, a mixture, a JPEG's losses or a choice among such (uint8 in and out).
struct ColourStep {
  enum class Kind {
    kJitter,
    kGreyscale,
    kAugment,
    kBlur,
    kAffine,
    kPerspective,
    kMix,
    kJpeg,
    kChoice,
    kElastic,
  };
  struct Bounds {
    double low = 1.0;
    double high = 1.0;
  };
  Kind kind = Kind::kJitter;
  double probability = 1.0;          // kGreyscale: 1 is Grayscale(num_output_channels=3)
  std::optional<Bounds> brightness;  // kJitter: factors; absent where the step leaves it alone
  std::optional<Bounds> contrast;
  std::optional<Bounds> saturation;
  std::optional<Bounds> hue;  // a shift, -0.5 .. 0.5 of a turn
  AugmentPlan augment;        // kAugment
  BlurPlan blur;              // kBlur
  AffinePlan affine;          // kAffine
  PerspectivePlan perspective;
  MixPlan mix;
  JpegPlan jpeg;
  ElasticPlan elastic;
  std::vector<ColourChoice> choices;  // kChoice: one is drawn
};

/// One of several, as in torchvision's RandomChoice: steps that are made in turn.
struct ColourChoice {
  double weight = 1.0;  // beside those of the others
  std::vector<ColourStep> steps;
};

/// RandomErasing: a rectangle of the output is overwritten.
struct ErasingPlan {
  double probability = 0.5;
  double scale_min = 0.02;
  double scale_max = 0.33;
  double ratio_min = 0.3;
  double ratio_max = 3.3;
  bool noise = false;               // normally distributed values instead of `value`
  std::array<float, 3> value = {};  // in the output's units
};

/// GaussianNoise on floats: a normally distributed number is added to each value.
struct NoisePlan {
  double probability = 1.0;
  double mean = 0.0;  // in the output's units, as the others
  double deviation = 0.1;
  bool clips = true;               // to 0 .. 1 afterwards
  bool after_normalising = false;  // instead of before it
};

/// How the result is written.
struct OutputPlan {
  enum class Type { kUint8, kFloat32, kFloat16, kBfloat16 };
  enum class Layout { kNhwc, kNchw };
  Type type = Type::kUint8;
  Layout layout = Layout::kNhwc;
  bool scale_to_unit = false;        // divide by 255, as ToTensor does; not for uint8
  bool scale_by_reciprocal = false;  // multiply by 1/255 instead, as v2's ToDtype(scale=True) does:
                                     // the last bit may differ
  std::optional<std::array<float, 3>> mean;       // Normalize; with `deviation`, not for uint8
  std::optional<std::array<float, 3>> deviation;  // standard deviation, above zero
};

/// Everything that is done to the pixels of a sample, in this order.
struct TransformPlan {
  GeometryPlan geometry;
  std::vector<ColourStep> colour;
  OutputPlan output;
  std::optional<NoisePlan> noise;  // of float32 alone
  std::optional<ErasingPlan> erasing;
};

/// kInvalidArgument with the field's name when a value makes no sense.
Status validate(const TransformPlan& plan);

/// RandomResizedCrop(size) + RandomHorizontalFlip, and Resize(resize_short) + CenterCrop(size), to
/// uint8.
TransformPlan training_crop(int size);
TransformPlan evaluation_crop(int size, int resize_short);

/// Bytes of one value, and of one image, of the output.
std::size_t value_bytes(OutputPlan::Type type);
std::size_t image_bytes(const TransformPlan& plan);

}  // namespace unstarve::feed
