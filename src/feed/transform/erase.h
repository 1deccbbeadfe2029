#pragma once

#include "feed/data/transform_plan.h"
#include "feed/transform/random.h"

namespace unstarve::feed {

/// Overwrites `box` of the finished image at `out` with the plan's value, or with noise drawn from
/// `random`. Values are converted to the output's type as torch converts a float tensor: halves
/// are rounded, uint8 takes the whole part modulo 256.
void erase(const TransformPlan& plan, const Box& box, SampleRandom random, void* out);

}  // namespace unstarve::feed
