#pragma once

#include <string>

#include "report/model/report_model.h"

namespace unstarve::report {

/// The report as one HTML file that needs nothing else: no request leaves it, and its policy lets
/// no script run but its own. It reads without scripts too; they only add the read-out of curves.
std::string render_html(const Report& report);

}  // namespace unstarve::report
