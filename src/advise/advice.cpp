#include "advise/advice.h"

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/host_verdict.h"
#include "advise/rank_verdict.h"
#include "advise/verdict.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

// A cause of this share is worth beginning with where more of the time has no recorded reason.
constexpr double kMatters = 0.05;

// A remedy that comes later takes more doing; it must gain more by this much to be named instead.
constexpr double kClearlyMore = 1.05;

bool is_doubtful(const Remedy& remedy) {
  return remedy.only_if_it_gains && remedy.predicted && (*remedy.predicted).low <= 1;
}

std::vector<Remedy> remedies_for(const Situation& situation, const std::vector<std::string>& rules,
                                 const Predictions& predictions) {
  std::vector<Remedy> remedies = offers(situation, rules);
  for (Remedy& remedy : remedies) {
    const auto gain = predictions.gains.find(remedy.id);
    if (gain != predictions.gains.end()) remedy.predicted = gain->second;
  }
  remedies.erase(std::remove_if(remedies.begin(), remedies.end(), is_doubtful), remedies.end());
  return remedies;
}

/// The largest, unless it is time whose reason was not recorded and one with a reason matters too.
std::optional<std::size_t> leading(const std::vector<diagnose::Finding>& findings) {
  if (findings.empty()) return std::nullopt;
  const auto explained =
      std::find_if(findings.begin(), findings.end(),
                   [](const diagnose::Finding& finding) { return finding.cause != "other"; });
  if (explained == findings.end() || explained->share < kMatters) return 0;
  return static_cast<std::size_t>(explained - findings.begin());
}

/// Where the model is trained on the CPU, loading competes with it for the same cores: a remedy
/// whose gain can be predicted has to be sure of one.
bool may_lead(const Remedy& remedy, bool trains_on_host) {
  if (!trains_on_host || !find_entry(remedy.id)->model) return true;
  return remedy.predicted && (*remedy.predicted).low > 1;
}

/// The first, which takes the least doing, unless another is predicted to gain clearly more.
std::optional<Remedy> leading(const std::vector<Remedy>& remedies, bool trains_on_host) {
  const Remedy* best = nullptr;
  for (const Remedy& remedy : remedies) {
    if (!may_lead(remedy, trains_on_host)) continue;
    if (best == nullptr ||
        (remedy.predicted && (!best->predicted || (*remedy.predicted).speedup >
                                                      kClearlyMore * (*best->predicted).speedup))) {
      best = &remedy;
    }
  }
  return best == nullptr ? std::nullopt : std::optional<Remedy>(*best);
}

void decide(const diagnose::Diagnosis& diagnosis, Advice& advice) {
  if (hardly_waits(diagnosis)) return;  // nothing is to be done
  const bool on_host = diagnose::trains_on_host(diagnosis.signals);
  advice.leading_finding =
      straggler_leads(diagnosis) ? finding_of_straggler(diagnosis) : leading(diagnosis.findings);
  if (!advice.leading_finding) return;
  advice.leading_remedy = leading(advice.for_findings[*advice.leading_finding], on_host);
  advice.next_remedy = advice.leading_remedy;
  for (const std::vector<Remedy>& remedies : advice.for_findings) {
    if (!advice.next_remedy) advice.next_remedy = leading(remedies, on_host);
  }
}

}  // namespace

std::span<const Remedy> Advice::of_finding(std::size_t i) const {
  return i < for_findings.size() ? std::span<const Remedy>(for_findings[i])
                                 : std::span<const Remedy>();
}

std::span<const Remedy> Advice::of_hint(std::size_t i) const {
  return i < for_hints.size() ? std::span<const Remedy>(for_hints[i]) : std::span<const Remedy>();
}

const Remedy* Advice::find(std::string_view id) const {
  for (const std::vector<Remedy>& remedies : for_findings) {
    for (const Remedy& remedy : remedies) {
      if (remedy.id == id) return &remedy;
    }
  }
  return nullptr;
}

Advice advise(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
              const Predictions& predictions) {
  const Situation situation{diagnosis.signals, job};
  Advice advice;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    advice.for_findings.push_back(remedies_for(situation, finding.reasons, predictions));
  }
  for (const diagnose::Hint& hint : diagnosis.hints) {
    advice.for_hints.push_back(remedies_for(situation, {hint.rule}, predictions));
  }
  decide(diagnosis, advice);
  advice.not_observed = what_was_not_observed(diagnosis, job);
  advice.verdict = write_verdict(diagnosis, advice, job);
  return advice;
}

}  // namespace unstarve::advise
