#pragma once

#include <string>
#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// One part of the time that is asked about.
struct WhyPart {
  std::string what;   // "decoding images"
  std::string place;  // "train.py:57"; empty: not at one line
  double share = 0;
  std::string cause;     // one of the partition's names, for its colour
  bool is_code = false;  // `what` is of the job's script
};

/// Where the leading finding's time goes: at most three parts, the largest first.
struct Why {
  std::string of;  // what the shares are of: "of making a sample"; empty where there are no parts
  std::vector<WhyPart> parts;
};

/// By lines of the job where looks found them, else by stages of a fetch, else by the parts of the
/// partition. No parts where not even those are known.
Why why_of(const Report& report);

}  // namespace unstarve::report
