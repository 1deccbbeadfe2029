#pragma once

#include <string>

#include "report/terminal/terminal.h"
#include "runs/cluster/job_records.h"

namespace unstarve::report {

/// A cluster's jobs as a table, the most idle GPU hours first, and what they come to. `at_most`:
/// rows.
std::string cluster_text(const runs::JobRecords& records, std::size_t at_most,
                         const TextOptions& options);

/// The object of docs/formats/cluster_jobs.md.
std::string cluster_json(const runs::JobRecords& records, std::size_t at_most);

}  // namespace unstarve::report
