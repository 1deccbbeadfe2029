#pragma once

#include <string>
#include <string_view>

#include "report/model/report_model.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The parts of render_text(), each empty when the report has nothing for it. They end in a
/// newline and do not begin with one.
/// What all of it comes to, in at most 13 lines of 80 columns.
std::string text_brief(const Report& report, const TextOptions& options);
std::string text_verdict(const Report& report, const TextOptions& options);
std::string text_partition(const Report& report, const TextOptions& options);
std::string text_findings(const Report& report, const TextOptions& options);
std::string text_costs(const Report& report, const TextOptions& options);
std::string text_ranks(const Report& report, const TextOptions& options);
std::string text_hints(const Report& report, const TextOptions& options);
std::string text_utilization(const Report& report, const TextOptions& options);
std::string text_roofs(const Report& report, const TextOptions& options);
std::string text_comparison(const Report& report, const TextOptions& options);
std::string text_not_observed(const Report& report, const TextOptions& options);
std::string text_unseen(const Report& report, const TextOptions& options);
std::string text_events(const Report& report, const TextOptions& options);
std::string text_own_cost(const Report& report, const TextOptions& options);

/// A section's first line.
std::string heading(std::string_view text, const TextOptions& options);

}  // namespace unstarve::report
