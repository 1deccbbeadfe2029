#pragma once

#include <string>

#include "report/terminal/terminal.h"
#include "roofline/roofs/store/roofline_document.h"

namespace unstarve::cli {

/// What is known of a machine, for people: whose it is, a line for each kind of roof with its
/// values, what is absent and why, and what disturbed.
std::string roofs_text(const roofline::RooflineDocument& document,
                       const report::TextOptions& options);

}  // namespace unstarve::cli
