#pragma once

#include "feed/data/geometry.h"
#include "feed/data/transform_plan.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// The crop, resize and flips of one sample. The boxes are drawn the way torchvision draws them
/// (RandomResizedCrop: ten tries, then the largest central crop whose ratio is allowed; Resize and
/// CenterCrop: the same roundings and the same padding), from `random` alone. fits(plan, image).
SampleGeometry draw_geometry(const GeometryPlan& plan, ImageSize image, SampleRandom& random);

}  // namespace unstarve::feed
