#pragma once

#include <string>

#include "report/model/report_model.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The report for a terminal or a log: what happened, why, what to change and what that would gain,
/// in at most 13 lines of 80 columns, and what was tried. With TextOptions::verbose all there is:
/// verdict, partition, findings, curves, what was not observed, own cost. No line is wider than the
/// options' width (at least 40).
std::string render_text(const Report& report, const TextOptions& options);

}  // namespace unstarve::report
