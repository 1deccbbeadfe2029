#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "feed/data/transform_plan.h"

namespace unstarve::examine {

/// Transforms of a sample as torchvision prints them, in their order, as one plan.
/// Errors: kNotSupported for the first that the loader has no plan for, or where nothing says how
/// large an image comes out.
Result<feed::TransformPlan> plan_of_transforms(std::span<const std::string> words);

}  // namespace unstarve::examine
