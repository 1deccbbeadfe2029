#include "report/tried/trial_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "examine/history/trial_dirs.h"
#include "predict/speedup.h"
#include "trial/trial_folder.h"

namespace unstarve::report {

namespace {

// A job that takes so much more or less time when it is run again is not judged by one run.
constexpr double kDrifts = 0.1;

double drift_of(const Verification& tried) {
  return tried.before.step_us > 0 ? tried.again->step_us / tried.before.step_us - 1 : 0;
}

}  // namespace

double total_speedup(const std::vector<Verification>& verification, const Verification& tried) {
  double total = tried.measured.speedup;
  std::string base = tried.base;
  // As many times as there are trials at most: what a file says may go round in a circle.
  for (std::size_t i = 0; i < verification.size() && base != examine::kBefore; ++i) {
    const auto below =
        std::find_if(verification.begin(), verification.end(),
                     [&base](const Verification& candidate) { return candidate.remedy == base; });
    if (below == verification.end()) break;
    total *= below->measured.speedup;
    base = below->base;
  }
  return total;
}

std::string outcome_words(const Verification& tried) {
  if (tried.outcome == trial::Outcome::kKept) return ", kept";
  if (tried.outcome == trial::Outcome::kSlower) return ", slower, not kept";
  if (tried.again && std::abs(drift_of(tried)) > kDrifts) {
    return ", not kept: " + drift_words(tried);
  }
  return ", not kept: no clear gain";
}

std::string drift_words(const Verification& tried) {
  if (!tried.again) return {};
  const double drift = drift_of(tried);
  return fmt::format("without it the job took {} {} when it was run again",
                     percent_text(std::abs(drift)), drift < 0 ? "less" : "longer");
}

std::string tried_sentence(const Verification& tried) {
  return fmt::format("{} {}{}", tried.remedy, speedup_text(tried.measured), outcome_words(tried));
}

std::string nothing_tried_sentence(const advise::Advice& advice) {
  if (!advice.leading_remedy) {
    return "nothing is tried: the diagnosis advises no change that a trial could make";
  }
  return fmt::format(
      "nothing is tried: what is advised ({}) takes a change of the code or of the machine, which "
      "no trial makes",
      advice.leading_remedy->id);
}

std::string others_tried(const std::vector<Verification>& verification, const Verification& best) {
  std::string text;
  for (const Verification& tried : verification) {
    if (&tried == &best) continue;
    const bool faster = tried.outcome == trial::Outcome::kKept;  // and so is the best
    text += fmt::format("{}{} {}{}", text.empty() ? "" : "; ", tried.remedy,
                        speedup_text(tried.measured), faster ? "" : outcome_words(tried));
  }
  return text;
}

}  // namespace unstarve::report
