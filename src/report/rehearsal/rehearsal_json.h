#pragma once

#include <string>

#include "rehearse/rehearsal.h"

namespace unstarve::report {

/// A rehearsal as one JSON object of schema `unstarve.rehearsal/1` (docs/formats/rehearsal.md),
/// ending in a newline.
std::string rehearsal_json(const rehearse::Rehearsal& rehearsal);

}  // namespace unstarve::report
