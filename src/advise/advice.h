#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "advise/job_facts.h"
#include "advise/remedy.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "predict/speedup.h"

namespace unstarve::advise {

/// Gains, predicted now or when the run was made.
struct Predictions {
  std::map<std::string, predict::Speedup> gains;  // by remedy
  std::vector<std::string> notes;                 // what could not be predicted, and why
};

/// Something that was not observed and that would have told more.
struct NotObserved {
  std::string what;  // "GPU activity"
  std::string why;   // "this job trains on the CPU"
  std::string how;   // to observe it, in one sentence
};

/// What to do about a diagnosis, and what is said first: decided here alone, so that no two
/// sentences of one report differ.
struct Advice {
  std::vector<std::vector<Remedy>> for_findings;  // for each of the diagnosis, in its order
  std::vector<std::vector<Remedy>> for_hints;
  std::optional<std::size_t> leading_finding;  // to begin with; none where there is none
  std::optional<Remedy> leading_remedy;        // of that finding, where it has one
  std::optional<Remedy> next_remedy;           // the same, or of the first finding that has one
  std::vector<Remedy> doubtful;                // left out: the range of their gain reaches to none
  std::vector<NotObserved> not_observed;
  std::string verdict;    // one sentence, or a few
  std::string cause;      // the same without what to do and without the condition
  std::string condition;  // what was measured beside: one sentence, or empty

  /// Of the i-th finding of the diagnosis; none where nothing was advised on it.
  std::span<const Remedy> of_finding(std::size_t i) const;
  /// Of its i-th hint.
  std::span<const Remedy> of_hint(std::size_t i) const;
  /// The remedy that a finding offers; null when none does.
  const Remedy* find(std::string_view id) const;
  /// The same, or the one that was left out as doubtful.
  const Remedy* find_offered(std::string_view id) const;
  /// The doubtful remedy of that name if it is likelier to gain than not, so that only a trial can
  /// tell; else null.
  const Remedy* find_worth_a_trial(std::string_view id) const;
  /// Of these the one that is predicted to gain most and that a trial can apply.
  const Remedy* most_worth_a_trial() const;
};

/// Below this share of a step, waiting for a loader is not worth a remedy.
inline constexpr double kWorthARemedy = 0.05;

/// Of fewer steps nothing is judged that takes their mean: a job of two steps was once told 64
/// times.
inline constexpr std::size_t kFewestStepsToJudge = 5;

/// Whether a finding's share is enough for faster loading to pay.
bool is_worth_a_remedy(const diagnose::Finding& finding);

/// The remedies of the catalogue that apply to a diagnosis, each with its prediction where there is
/// one. Pure: the same input gives the same answer.
Advice advise(const diagnose::Diagnosis& diagnosis, const JobFacts& job,
              const Predictions& predictions);

}  // namespace unstarve::advise
