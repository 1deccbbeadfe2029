#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/random.h"
#include "kernels/pixels/colour_adjust.h"

namespace unstarve::feed {

/// One change of colour with what was drawn for it.
struct ColourDraw {
  kernels::ColourOp op = kernels::ColourOp::kBrightness;
  double factor = 1.0;
};

/// What is done to one sample's colours, in order; `draws` is overwritten and keeps its memory. As
/// torchvision's ColorJitter: a random order of the four, each with a factor drawn evenly.
void draw_colour(const std::vector<ColourStep>& steps, SampleRandom& random,
                 std::vector<ColourDraw>& draws);

/// The rectangle of an output of `size` that is overwritten, or nothing. As torchvision's
/// RandomErasing: ten tries to find a rectangle that leaves something beside it.
std::optional<Box> draw_erasing(const ErasingPlan& plan, ImageSize size, SampleRandom& random);

}  // namespace unstarve::feed
