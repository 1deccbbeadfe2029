#pragma once

#include <vector>

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// Adds what is done to one image of `size`: of each round a set, of the set's changes those that
/// their probability lets be, each with a magnitude.
void draw_augment(const AugmentPlan& plan, ImageSize size, SampleRandom& random,
                  std::vector<PixelDraw>& draws);

}  // namespace unstarve::feed
