#include "diagnose/leading.h"

#include <algorithm>

namespace unstarve::diagnose {
namespace {

// A cause of this share is worth beginning with where more of the time has no recorded reason.
constexpr double kMatters = 0.05;

// A remedy that comes later takes more doing; it must gain more by this much to be named instead.
constexpr double kClearlyMore = 1.05;

}  // namespace

const Finding* leading_finding(const Diagnosis& diagnosis) {
  const std::vector<Finding>& findings = diagnosis.findings;  // by share
  if (findings.empty()) return nullptr;
  const auto explained = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.cause != "other";
  });
  const bool matters = explained != findings.end() && explained->share >= kMatters;
  return matters ? &*explained : &findings.front();
}

const Remedy* leading_remedy(const Finding& finding) {
  const Remedy* best = nullptr;
  for (const Remedy& remedy : finding.remedies) {
    if (best == nullptr ||
        (remedy.predicted && (!best->predicted || (*remedy.predicted).speedup >
                                                      kClearlyMore * (*best->predicted).speedup))) {
      best = &remedy;
    }
  }
  return best;
}

}  // namespace unstarve::diagnose
