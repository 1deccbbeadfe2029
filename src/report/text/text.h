#pragma once

#include <string>

#include "report/report_model.h"
#include "report/text/terminal.h"

namespace unstarve::report {

/// The report for a terminal or a log: verdict, partition, findings, what was tried, what was not
/// observed, own cost. Without a GPU's partition only the verdict and what it rests on, unless all
/// is asked for (TextOptions::verbose). No line is wider than the options' width (at least 40).
std::string render_text(const Report& report, const TextOptions& options);

}  // namespace unstarve::report
