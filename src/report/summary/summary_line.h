#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "report/model/report_model.h"

namespace unstarve::report {

inline constexpr std::size_t kSummaryBytesMax = 1000;

/// What a site keeps of a job, for example in Slurm's AdminComment: runs::kSummaryPrefix and in
/// base64 a gzip of the object of docs/formats/summary.md; at most kSummaryBytesMax, for which long
/// texts are cut. Without a newline. Errors: no memory.
Result<std::string> summary_line(const Report& report);

}  // namespace unstarve::report
