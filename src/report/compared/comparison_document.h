#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compare/comparison.h"

namespace unstarve::report {

/// The object of comparison_json(), for whoever adds to it.
nlohmann::ordered_json comparison_document(const compare::Comparison& comparison);

}  // namespace unstarve::report
