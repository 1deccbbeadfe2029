#pragma once

#include <string>

#include "rehearse/rehearsal.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// A rehearsal for a terminal: what ran, a row for each number of GPUs of each kind, what the
/// remedies would make of it, what it rests on.
std::string render_rehearsal(const rehearse::Rehearsal& rehearsal, const TextOptions& options);

}  // namespace unstarve::report
