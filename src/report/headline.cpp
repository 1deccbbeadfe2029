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

std::string next_sentence(const diagnose::Diagnosis& diagnosis) {
  for (const diagnose::Finding& finding : diagnosis.findings) {
    if (finding.remedies.empty()) continue;
    const diagnose::Remedy& remedy = finding.remedies.front();
    if (!remedy.predicted) return remedy.how;
    return fmt::format("{} (predicted {})", remedy.how, speedup_text(*remedy.predicted));
  }
  return {};
}

std::vector<UnseenSignal> unseen_signals(const diagnose::Diagnosis& diagnosis) {
  std::vector<UnseenSignal> signals;
  std::vector<WhyAbsent> reasons;
  for (const diagnose::Abstention& silent : diagnosis.abstentions) {
    std::size_t at = 0;
    while (at < signals.size() &&
           (signals[at].signal != silent.signal || reasons[at] != silent.why))
      ++at;
    if (at < signals.size()) {
      signals[at].consequence += ", " + silent.rule;
      continue;
    }
    signals.push_back(
        {silent.signal, fmt::format("{}, so no word on {}", why_words(silent.why), silent.rule)});
    reasons.push_back(silent.why);
  }
  return signals;
}

}  // namespace unstarve::report
