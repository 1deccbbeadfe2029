#include "advise/parts/line_time.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace unstarve::advise {

namespace {

// Lines with less of the finding's time are not what is taken out.
constexpr double kStandsOut = 0.1;
constexpr double kErrors = 2;

/// The share of `place` in some time; 0 where it was not found there.
double share_at(const diagnose::CodeTime& time, const std::string& place) {
  for (const diagnose::CodeShare& code : time.parts) {
    if (code.place == place) return code.share;
  }
  return 0;
}

/// What is known of the waiting for the device, by line: of the finding that is about it.
const diagnose::CodeTime* blocked_code(const diagnose::Diagnosis& diagnosis) {
  for (const diagnose::Finding& finding : diagnosis.findings) {
    if (finding.cause == "sync") return &finding.code;
  }
  return nullptr;
}

}  // namespace

std::optional<LineTime> line_time(const diagnose::Diagnosis& diagnosis,
                                  const diagnose::Finding& finding) {
  const diagnose::CodeTime& own = diagnosis.own_code;
  const double own_share = 1 - diagnosis.signals.wait_ratio.value_or(0);
  const diagnose::CodeTime* const blocked = blocked_code(diagnosis);
  double of_own = 0;
  LineTime time;
  for (const diagnose::CodeShare& code : finding.code.parts) {
    if (code.place.empty() || code.trains || code.share < kStandsOut) continue;
    of_own += share_at(own, code.place);
    time.of_finding += code.share;
    if (blocked != nullptr) {
      time.blocked += share_at(*blocked, code.place) * diagnosis.signals.blocked_ratio.value_or(0);
    }
  }
  if (of_own <= 0 || own.looks < 1) return std::nullopt;
  of_own = std::min(of_own, 1.0);
  time.total = own_share * of_own;
  time.blocked = std::min(time.blocked, time.total);
  time.error =
      kErrors * own_share * std::sqrt(of_own * (1 - of_own) / static_cast<double>(own.looks));
  return time;
}

}  // namespace unstarve::advise
