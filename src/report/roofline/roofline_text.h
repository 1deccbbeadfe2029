#pragma once

#include <string>

#include "report/terminal/terminal.h"
#include "roofline/position/position.h"

namespace unstarve::report {

/// A roofline in characters, at most 20 lines where they are 80 columns wide: the slope of the
/// memory, the flat roofs of products, the job's point. Without a roof it says which is missing.
std::string roofline_text(const roofline::Position& position, const TextOptions& options);

}  // namespace unstarve::report
