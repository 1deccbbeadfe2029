#pragma once

#include <string>

#include "position/position.h"
#include "report/text/terminal.h"

namespace unstarve::report {

/// A roofline in characters, at most 20 lines where they are 80 columns wide: the slope of the
/// memory, the flat roofs of products, the job's point. Without a roof it says which is missing.
std::string roofline_text(const position::Position& position, const TextOptions& options);

}  // namespace unstarve::report
