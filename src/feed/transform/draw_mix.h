#pragma once

#include <vector>

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// Adds what AugMix does to an image of `size`, drawn as torchvision draws it.
void draw_mix(const MixPlan& plan, ImageSize size, SampleRandom& random,
              std::vector<PixelDraw>& draws);

}  // namespace unstarve::feed
