#pragma once

#include <string>

#include "report/terminal/terminal.h"
#include "roofline/position/position.h"

namespace unstarve::report {

/// A line for each term, its least time, share and roof; what is absent; the utilisation. At most 8
/// lines where they are 80 columns wide and nothing is noted.
std::string position_text(const roofline::Position& position, const TextOptions& options);

}  // namespace unstarve::report
