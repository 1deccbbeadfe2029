#pragma once

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// What RandomAffine does to an image of this size, drawn as torchvision draws it.
PixelDraw draw_affine(const AffinePlan& plan, ImageSize size, SampleRandom& random);

}  // namespace unstarve::feed
