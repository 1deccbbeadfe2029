#pragma once

#include <string>
#include <vector>

#include "report/report_model.h"

namespace unstarve::report {

/// The diagnosis as one JSON object of schema `unstarve.diagnosis/1` (docs/formats/diagnosis.md),
/// indented by two spaces, ending in a newline. The same input gives the same bytes. Numbers that
/// are not finite are written as absent; bytes that are not UTF-8 as U+FFFD.
std::string to_json(const diagnose::Diagnosis& diagnosis, const advise::Advice& advice);

/// As above with the key `verification`, which is a list even when nothing was tried.
std::string to_json(const diagnose::Diagnosis& diagnosis, const advise::Advice& advice,
                    const std::vector<Verification>& verification);

}  // namespace unstarve::report
