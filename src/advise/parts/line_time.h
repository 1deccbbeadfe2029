#pragma once

#include <optional>

#include "diagnose/diagnosis/diagnosis.h"

namespace unstarve::advise {

/// What the training thread spends in the code that a finding's time goes to, in shares of a mean
/// step: that is what goes when this code does, the waiting with the calls around it.
struct LineTime {
  double total = 0;
  double blocked = 0;     // of it, waiting for the device
  double error = 0;       // of `total`: two standard errors of the looks, which are few
  double of_finding = 0;  // the part of the finding's time, 0..1
};

/// Of lines that stand out in the finding and are not the training itself. None where nobody
/// looked, or no such line was found.
std::optional<LineTime> line_time(const diagnose::Diagnosis& diagnosis,
                                  const diagnose::Finding& finding);

}  // namespace unstarve::advise
