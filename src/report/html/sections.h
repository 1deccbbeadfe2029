#pragma once

#include <string>

#include "report/model/report_model.h"

namespace unstarve::report {

/// The parts of render_html(), each empty when the report has nothing for it.
std::string html_verdict(const Report& report);
std::string html_utilization(const Report& report);
std::string html_partition(const Report& report);
std::string html_findings(const Report& report);
std::string html_hints(const Report& report);
std::string html_roofline(const Report& report);
std::string html_costs(const Report& report);
std::string html_comparison(const Report& report);
std::string html_unseen(const Report& report);
std::string html_facts(const Report& report);
std::string html_words(const Report& report);

}  // namespace unstarve::report
