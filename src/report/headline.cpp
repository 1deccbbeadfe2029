#include "report/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/words.h"

namespace unstarve::report {

const Verification* best_verified(const std::vector<Verification>& verification) {
  const auto best = std::max_element(verification.begin(), verification.end(),
                                     [](const Verification& a, const Verification& b) {
                                       return a.measured.speedup < b.measured.speedup;
                                     });
  return best == verification.end() ? nullptr : &*best;
}

std::string proof_sentence(const Verification& tried) {
  const std::string measured = speedup_text(tried.measured);
  std::string text = tried.measured.speedup < 1
                         ? fmt::format("{} did not make the job faster: {}", tried.remedy, measured)
                         : fmt::format("{} made the job {} faster", tried.remedy, measured);
  if (!tried.predicted) return text + "; nothing had been predicted";
  return text + fmt::format("; predicted {}, which {}", speedup_text(*tried.predicted),
                            tried.held ? "held" : "did not hold");
}

const diagnose::Finding* leading_finding(const Report& report) {
  const std::optional<std::size_t>& leading = report.advice.leading_finding;
  return leading ? &report.diagnosis.findings[*leading] : nullptr;
}

std::string next_sentence(const advise::Advice& advice) {
  if (!advice.next_remedy) return {};
  const advise::Remedy& remedy = *advice.next_remedy;
  if (!remedy.predicted) return remedy.how;
  return fmt::format("{} (predicted {})", remedy.how, speedup_text(*remedy.predicted));
}

std::vector<std::string> not_observed_sentences(const advise::Advice& advice) {
  std::vector<std::string> sentences;
  for (const advise::NotObserved& unseen : advice.not_observed) {
    sentences.push_back(
        fmt::format("{} was not observed ({}): {}.", unseen.what, unseen.why, unseen.how));
  }
  return sentences;
}

std::vector<Unseen> unseen_by_reason(const diagnose::Diagnosis& diagnosis) {
  std::vector<Unseen> reasons;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const diagnose::Abstention& silent : diagnosis.abstentions) {
    auto reason = std::find_if(reasons.begin(), reasons.end(),
                               [&](const Unseen& unseen) { return unseen.why == silent.why; });
    if (reason == reasons.end()) reason = reasons.insert(reason, {silent.why, {}, {}});
    add(reason->signals, silent.signal);
    add(reason->rules, silent.rule);
  }
  return reasons;
}

}  // namespace unstarve::report
