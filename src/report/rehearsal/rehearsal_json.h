#pragma once

#include <string>

#include "trial/rehearsal/rehearsal.h"

namespace unstarve::report {

/// A rehearsal as one JSON object of schema `unstarve.rehearsal/1` (docs/formats/rehearsal.md),
/// ending in a newline.
std::string rehearsal_json(const trial::Rehearsal& rehearsal);

}  // namespace unstarve::report
