#pragma once

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/draw_pixels.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// What RandomPerspective does to an image of this size, 2 pixels a side at least, drawn as
/// torchvision draws it.
PixelDraw draw_perspective(const PerspectivePlan& plan, ImageSize size, SampleRandom& random);

}  // namespace unstarve::feed
