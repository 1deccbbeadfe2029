#pragma once

#include <string>

#include "isolation/isolation.h"

namespace unstarve::report {

/// What becomes of what trials write, and whom they tell of their runs.
std::string isolation_sentence(const isolation::Isolation& by);

}  // namespace unstarve::report
