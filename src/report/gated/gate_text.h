#pragma once

#include <string>

#include "gate/gate.h"
#include "report/terminal/terminal.h"

namespace unstarve::report {

/// The decision, what changed and why, each measure, and the error rates. No line is wider than the
/// options' width (at least 40).
std::string render_gate(const gate::GateResult& result, const TextOptions& options);

}  // namespace unstarve::report
