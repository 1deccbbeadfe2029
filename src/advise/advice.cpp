#include "advise/advice.h"

#include <algorithm>
#include <iterator>

#include "advise/catalogue.h"
#include "advise/host_verdict.h"
#include "advise/known_work.h"
#include "advise/rank_verdict.h"
#include "advise/verdict.h"
#include "diagnose/findings.h"
#include "diagnose/line_words.h"
#include "diagnose/signals/conditions.h"

namespace unstarve::advise {

namespace {

// A cause of this share is worth beginning with where more of the time has no recorded reason.
constexpr double kMatters = 0.05;

// A remedy that comes later takes more doing; it must gain more by this much to be named instead.
constexpr double kClearlyMore = 1.05;

// A gain that is not sure is worth two runs of the job where this much is predicted.
constexpr double kWorthATrial = 1.05;

/// Nothing is advised that may do harm.
bool is_doubtful(const Remedy& remedy) { return remedy.predicted && (*remedy.predicted).low <= 1; }

std::vector<Remedy> remedies_for(const Situation& situation, const std::vector<std::string>& rules,
                                 const Predictions& predictions, Advice& advice) {
  std::vector<Remedy> remedies = offers(situation, rules);
  for (Remedy& remedy : remedies) {
    const auto gain = predictions.gains.find(remedy.id);
    if (gain != predictions.gains.end()) remedy.predicted = gain->second;
  }
  const auto doubtful = std::stable_partition(
      remedies.begin(), remedies.end(), [](const Remedy& remedy) { return !is_doubtful(remedy); });
  std::move(doubtful, remedies.end(), std::back_inserter(advice.doubtful));
  remedies.erase(doubtful, remedies.end());
  return remedies;
}

/// Faster loading can gain no more than is waited.
bool is_worth_a_hint(const Situation& situation, const Remedy& remedy) {
  return !find_entry(remedy.id)->model || situation.signals.wait_ratio.value_or(1) >= kWorthARemedy;
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

// Less is not worth a change, whatever it takes.
constexpr double kLeastGain = 1.02;

/// Where the model is trained on the CPU, loading competes with it for the same cores: a remedy
/// whose gain can be predicted has to be sure of one. What gains from the second pass over the data
/// on is for jobs that make one.
bool may_lead(const Remedy& remedy, const Situation& situation) {
  const CatalogueEntry& entry = *find_entry(remedy.id);
  if (entry.gains_later && situation.job.passes < 2) return false;
  if (entry.names_no_work && has_known_work(situation.signals)) return false;
  if (remedy.predicted && (*remedy.predicted).speedup < kLeastGain) return false;
  if (!diagnose::trains_on_host(situation.signals) || !entry.model) return true;
  return remedy.predicted.has_value();
}

/// Whether `remedy` is named instead of one that takes less doing: it is predicted to gain clearly
/// more. What changes that which is trained never is, nor what has to be found first.
bool displaces(const Remedy& remedy, const Remedy& best, const Situation& situation) {
  if (!remedy.predicted || remedy.place_unknown) return false;
  const bool trains_otherwise = find_entry(remedy.id)->effort == Effort::kTrajectory;
  if (trains_otherwise && !situation.job.infers) return false;
  return !best.predicted || (*remedy.predicted).speedup > kClearlyMore * (*best.predicted).speedup;
}

/// The first, which takes the least doing, unless another is predicted to gain clearly more.
std::optional<Remedy> leading(const std::vector<Remedy>& remedies, const Situation& situation) {
  const auto first = std::find_if(remedies.begin(), remedies.end(), [](const Remedy& remedy) {
    // All the others were judged from too little.
    return find_entry(remedy.id)->effort == Effort::kRecordAgain;
  });
  if (first != remedies.end()) return *first;
  const Remedy* best = nullptr;
  for (const Remedy& remedy : remedies) {
    if (!may_lead(remedy, situation)) continue;
    if (best == nullptr || displaces(remedy, *best, situation)) best = &remedy;
  }
  return best == nullptr ? std::nullopt : std::optional<Remedy>(*best);
}

/// Of causes that are about as large, the one leads whose removal is predicted to gain clearly
/// more: shares that are this close change places from run to run.
std::size_t with_more_to_gain(std::size_t first, const diagnose::Diagnosis& diagnosis,
                              const Situation& situation, const Advice& advice) {
  std::optional<Remedy> best = leading(advice.for_findings[first], situation);
  if (!best || !best->predicted) return first;
  const std::size_t largest = first;
  for (std::size_t i = largest + 1; i < diagnosis.findings.size(); ++i) {
    const diagnose::Finding& other = diagnosis.findings[i];
    if (!diagnose::is_about_as_large(other, diagnosis.findings[largest])) break;
    const std::optional<Remedy> remedy = leading(advice.for_findings[i], situation);
    if (!remedy || !displaces(*remedy, *best, situation)) continue;
    first = i;
    best = remedy;
  }
  return first;
}

std::optional<std::size_t> leading(const diagnose::Diagnosis& diagnosis, const Situation& situation,
                                   const Advice& advice) {
  if (straggler_leads(diagnosis)) return finding_of_straggler(diagnosis);
  const std::optional<std::size_t> largest = leading(diagnosis.findings);
  if (!largest) return std::nullopt;
  return with_more_to_gain(*largest, diagnosis, situation, advice);
}

void decide(const diagnose::Diagnosis& diagnosis, const Situation& situation, Advice& advice) {
  if (hardly_waits(diagnosis)) return;  // nothing is to be done
  advice.leading_finding = leading(diagnosis, situation, advice);
  if (!advice.leading_finding) return;
  // Without records of a GPU there is nothing but the steps, and a few of them are a job's start.
  const bool run = diagnosis.input == trace::InputKind::kRun;
  if (run && !diagnosis.partition && diagnosis.steps.count < std::int64_t{kFewestStepsToJudge})
    return;
  advice.leading_remedy = leading(advice.for_findings[*advice.leading_finding], situation);
  advice.next_remedy = advice.leading_remedy;
  for (std::size_t i = 0; i < diagnosis.findings.size() && !advice.next_remedy; ++i) {
    if (diagnosis.findings[i].share < kMatters) continue;
    advice.next_remedy = leading(advice.for_findings[i], situation);
  }
}

/// The verdict's sentences without the remedy.
std::string write_cause(const diagnose::Diagnosis& diagnosis, Advice advice, const JobFacts& job) {
  if (advice.leading_remedy) advice.leading_remedy->how.clear();
  return write_verdict(diagnosis, advice, job);
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

const Remedy* Advice::find_offered(std::string_view id) const {
  if (const Remedy* const advised = find(id)) return advised;
  const auto found = std::find_if(doubtful.begin(), doubtful.end(),
                                  [id](const Remedy& remedy) { return remedy.id == id; });
  return found == doubtful.end() ? nullptr : &*found;
}

const Remedy* Advice::find_worth_a_trial(std::string_view id) const {
  if (find(id) != nullptr) return nullptr;
  const Remedy* const remedy = find_offered(id);
  return remedy != nullptr && (*remedy->predicted).speedup >= kWorthATrial ? remedy : nullptr;
}

const Remedy* Advice::most_worth_a_trial() const {
  const Remedy* most = nullptr;
  for (const Remedy& remedy : doubtful) {
    const CatalogueEntry& entry = *find_entry(remedy.id);
    if (!entry.apply || !entry.apply(remedy) || find_worth_a_trial(remedy.id) == nullptr) continue;
    if (most == nullptr || (*remedy.predicted).speedup > (*most->predicted).speedup) most = &remedy;
  }
  return most;
}

bool is_worth_a_remedy(const diagnose::Finding& finding) {
  return finding.cause != "input_wait" || finding.share >= kWorthARemedy;
}

Advice advise(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
              const Predictions& predictions) {
  const Situation situation{diagnosis.signals, job};
  Advice advice;
  for (const diagnose::Finding& finding : diagnosis.findings) {
    const Situation there{
        .signals = diagnosis.signals,
        .job = job,
        .line = diagnose::line_of(finding),
        .without_wait = diagnose::without_wait_of(finding),
        .work = diagnose::work_at_line_of(finding),
    };
    advice.for_findings.push_back(is_worth_a_remedy(finding)
                                      ? remedies_for(there, finding.reasons, predictions, advice)
                                      : std::vector<Remedy>());
  }
  for (const diagnose::Hint& hint : diagnosis.hints) {
    std::vector<Remedy> remedies = remedies_for(situation, {hint.rule}, predictions, advice);
    const auto idle = [&situation](const Remedy& remedy) {
      return !is_worth_a_hint(situation, remedy);
    };
    remedies.erase(std::remove_if(remedies.begin(), remedies.end(), idle), remedies.end());
    advice.for_hints.push_back(std::move(remedies));
  }
  decide(diagnosis, situation, advice);
  advice.not_observed = what_was_not_observed(diagnosis, job);
  advice.condition = condition_words(diagnosis, advice);
  advice.verdict = write_verdict(diagnosis, advice, job);
  if (!advice.condition.empty()) advice.verdict += " " + advice.condition;
  advice.cause = write_cause(diagnosis, advice, job);
  return advice;
}

}  // namespace unstarve::advise
