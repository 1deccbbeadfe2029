#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/terminal/terminal.h"

namespace unstarve::report {

/// A curve of ratios 0..1 as block characters, one per value, `rows` lines high, top line first.
/// Values outside are clamped; a value that is not finite leaves its column blank. In ASCII the
/// curve has one line, whatever `rows` says.
std::vector<std::string> render_curve(std::span<const double> values, int rows,
                                      const TextOptions& options);

}  // namespace unstarve::report
