#pragma once

#include <string>

#include "diagnose/diagnosis.h"

namespace unstarve::diagnose {

/// One sentence for `diagnosis`: what, why with its share, where, what to do and what that would
/// gain; on an emulated device it says so. When nothing can be said, the real reason.
std::string write_verdict(const Diagnosis& diagnosis);

}  // namespace unstarve::diagnose
