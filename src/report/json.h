#pragma once

#include <string>
#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// The diagnosis as one JSON object of schema `unstarve.diagnosis/1` (docs/formats/diagnosis.md),
/// indented by two spaces, ending in a newline. The same input gives the same bytes. Numbers that
/// are not finite are written as absent; bytes that are not UTF-8 as U+FFFD. The key `verification`
/// is there only where it is asked for: then it is a list even when nothing was tried.
std::string to_json(const Report& report, bool with_verification);

}  // namespace unstarve::report
