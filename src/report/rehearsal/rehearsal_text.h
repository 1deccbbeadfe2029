#pragma once

#include <string>

#include "report/text/terminal.h"
#include "trial/rehearsal/rehearsal.h"

namespace unstarve::report {

/// A rehearsal for a terminal: what ran, a row for each number of GPUs of each kind, what the
/// remedies would make of it, what it rests on.
std::string render_rehearsal(const trial::Rehearsal& rehearsal, const TextOptions& options);

}  // namespace unstarve::report
