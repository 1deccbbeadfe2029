#pragma once

#include <string>

#include "gate/gate.h"

namespace unstarve::report {

/// A comparison's object with what the gate says beside it (docs/formats/gate.md).
std::string gate_json(const gate::GateResult& result);

/// One test case a measure: a failure where it regressed, skipped where it abstains or is open.
std::string gate_junit(const gate::GateResult& result);

/// For a comment on a pull request.
std::string gate_markdown(const gate::GateResult& result);

}  // namespace unstarve::report
