#pragma once

#include <optional>
#include <vector>

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// One change of an image of `size` with a magnitude, both drawn but for the change's probability;
/// none where nothing is changed. A kPlaces is without its fill.
std::optional<PixelDraw> draw_change(const AugmentChange& change, ImageSize size,
                                     SampleRandom& random);

/// Adds what is done to one image of `size`: of each round a set, of the set's changes those that
/// their probability lets be, each with a magnitude.
void draw_augment(const AugmentPlan& plan, ImageSize size, SampleRandom& random,
                  std::vector<PixelDraw>& draws);

}  // namespace unstarve::feed
