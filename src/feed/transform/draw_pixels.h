#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/random.h"
#include "kernels/moves/elastic.h"
#include "kernels/moves/perspective.h"
#include "kernels/pixels/affine.h"
#include "kernels/pixels/blur.h"
#include "kernels/pixels/colour_adjust.h"
#include "kernels/pixels/tone.h"

namespace unstarve::feed {

/// One change of the pixels with what was drawn for it.
struct PixelDraw {
  /// Of colours as torchvision's ColorJitter has them; of values by themselves; of sharpness; of
  /// places; blurring; what a JPEG loses. From kMixBegin to kMixEnd changed copies of the image are
  /// added to it: each kMixAdd ends one, and what comes behind changes the image as it was.
  enum class Kind {
    kColour,
    kTone,
    kSharpness,
    kPlaces,
    kPerspective,
    kBlur,
    kMixBegin,
    kMixAdd,
    kMixEnd,
    kJpeg,
    kElastic,
  };
  Kind kind = Kind::kColour;
  kernels::ColourOp colour = kernels::ColourOp::kBrightness;
  kernels::ToneOp tone = kernels::ToneOp::kInvert;
  double factor = 1.0;  // of the first three; the weight of kMixBegin and kMixAdd
  int quality = 100;    // kJpeg
  kernels::Elastic elastic;
  std::uint64_t seed = 0;  // kElastic: of the displacement
  kernels::AffineMap places;
  kernels::PerspectiveMap perspective;
  kernels::Blur blur;
  kernels::AffineFill fill;                              // kPlaces, kPerspective, kElastic
  kernels::EdgeRule edges = kernels::EdgeRule::kPillow;  // kPerspective, kElastic
};

/// What is done to one sample's pixels, in order; `draws` is overwritten and keeps its memory. As
/// torchvision's ColorJitter: a random order of the four, each with a factor drawn evenly; and as
/// its augmentations. `size` is that of the output.
void draw_pixels(const std::vector<ColourStep>& steps, ImageSize size, SampleRandom& random,
                 std::vector<PixelDraw>& draws);

/// The rectangle of an output of `size` that is overwritten, or nothing. As torchvision's
/// RandomErasing: ten tries to find a rectangle that leaves something beside it.
std::optional<Box> draw_erasing(const ErasingPlan& plan, ImageSize size, SampleRandom& random);

}  // namespace unstarve::feed
