#pragma once

#include <string>

#include "compare/comparison.h"

namespace unstarve::report {

/// One object of schema `unstarve.comparison/1` (docs/formats/comparison.md), indented by two
/// spaces, ending in a newline.
std::string comparison_json(const compare::Comparison& comparison);

}  // namespace unstarve::report
