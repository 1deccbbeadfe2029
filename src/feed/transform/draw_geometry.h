#pragma once

#include "feed/data/geometry.h"
#include "feed/data/loader_options.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// The crop, resize and flip of one sample as LoaderOptions::task asks for. The boxes are drawn the
/// way torchvision draws them (RandomResizedCrop: ten tries, then the largest central crop whose
/// ratio is allowed; Resize and CenterCrop: the same roundings), from `random` alone.
SampleGeometry draw_geometry(const LoaderOptions& options, ImageSize image, SampleRandom& random);

}  // namespace unstarve::feed
