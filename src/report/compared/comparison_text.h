#pragma once

#include <string>

#include "compare/comparison.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The sentence, the table of measures, the parts of a step, findings that came and went, and what
/// is not the same. No line is wider than the options' width (at least 40).
std::string render_comparison(const compare::Comparison& comparison, const TextOptions& options);

}  // namespace unstarve::report
