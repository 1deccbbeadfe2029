#pragma once

#include <nlohmann/json_fwd.hpp>

#include "roofline/position/position.h"

namespace unstarve::report {

/// The object `position` of docs/formats/diagnosis.md.
nlohmann::ordered_json position_json(const roofline::Position& position);

}  // namespace unstarve::report
