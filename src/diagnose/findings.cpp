#include "diagnose/findings.h"

#include <algorithm>

#include "base/number_words.h"
#include "diagnose/rules/all_rules.h"
#include "diagnose/signals/conditions.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

struct Detail {
  std::string_view name;
  Claim claim;
};

// What workers take to start, and what a sampler takes, are shares of all waiting. The other
// details say how a batch is made or handed over, and so explain no more than the waiting that is
// left.
void weigh_beside_start(std::vector<Detail>& details) {
  const auto is_of_waiting = [](const Detail& detail) {
    return detail.name == "loader_startup" || detail.name == "sampler";
  };
  double left = 1;
  for (const Detail& detail : details) {
    if (is_of_waiting(detail)) left -= detail.claim.weight;
  }
  for (Detail& detail : details) {
    if (!is_of_waiting(detail)) detail.claim.weight *= std::max(left, 0.0);
  }
}

// The detail that explains most of the cause names the finding; all of them are evidence.
void explain(const Signals& signals, Finding& finding, std::vector<Abstention>& abstentions) {
  std::vector<Detail> details;
  for (const Rule& rule : all_rules()) {
    if (rule.kind != RuleKind::kDetail || rule.cause != finding.cause) continue;
    RuleAnswer answer = ask(rule, signals);
    if (answer.claim) details.push_back({rule.name, std::move(*answer.claim)});
    if (answer.abstention) abstentions.push_back(std::move(*answer.abstention));
  }
  weigh_beside_start(details);
  std::stable_sort(details.begin(), details.end(), [](const Detail& a, const Detail& b) {
    return a.claim.weight > b.claim.weight;
  });
  if (!details.empty()) finding.detail = std::string(details.front().name);
  if (finding.detail == "python_transform") {
    if (const auto work = main_fetch_work(signals)) finding.work = words_of(work->work);
  }
  for (Detail& detail : details) {
    finding.reasons.emplace_back(detail.name);
    for (std::string& sentence : detail.claim.evidence) {
      finding.evidence.push_back(std::move(sentence));
    }
  }
}

// Why the recording as a whole does not allow a clear answer; empty when it does.
std::string doubt_about_recording(const Signals& signals) {
  constexpr double kManyLost = 0.01;
  constexpr double kManyUnlaunched = 0.05;
  // Where the model is trained elsewhere, no GPU's activity is missing.
  const bool elsewhere = trains_on_host(signals) || gpu_takes_no_part(signals);
  if (!signals.gpu_compute_ratio && !elsewhere) return "no GPU activity is recorded";
  const double steps = signals.step_count.value_or(0);
  if (steps < 1) return "no step boundary is recorded";
  if (steps < 2) return "only one step is recorded";
  if (signals.recorded_step_count.value_or(steps) < 2) {
    return "GPU activity is recorded in less than two of the steps";
  }
  if (signals.events_lost_ratio.value_or(0) >= kManyLost) {
    return percent_text(*signals.events_lost_ratio) + " of the events were lost";
  }
  if (signals.ops_without_launch_ratio.value_or(0) >= kManyUnlaunched) {
    return "the launch calls of " + percent_text(*signals.ops_without_launch_ratio) +
           " of the GPU operations are missing";
  }
  return "";
}

// Why the largest cause may not be the largest; empty when it stands out.
std::string doubt_about_first(const std::vector<Finding>& findings, const Signals& signals) {
  constexpr double kUnexplained = 0.5;  // of the first's share
  const Finding& first = findings.front();
  if (first.cause == "gpu_busy") return "";
  if (first.cause == "other") return "most of the idle time has no recorded reason";
  if (signals.other_ratio.value_or(0) > kUnexplained * first.share) {
    return percent_text(*signals.other_ratio) + " of the time is idle for no recorded reason";
  }
  if (findings.size() < 2) return "";
  const Finding& second = findings[1];
  if (!is_about_as_large(second, first)) return "";
  return second.cause + " is about as large (" + percent_text(second.share) + ")";
}

void mark(Finding& finding, const std::string& doubt) {
  if (doubt.empty()) return;
  finding.confidence = Confidence::kAmbiguous;
  finding.evidence.push_back("ambiguous: " + doubt);
}

void judge(const Signals& signals, std::vector<Finding>& findings) {
  if (findings.empty()) return;
  const std::string recording = doubt_about_recording(signals);
  if (recording.empty()) {
    mark(findings.front(), doubt_about_first(findings, signals));
    return;
  }
  for (Finding& finding : findings) mark(finding, recording);
}

/// Hands what the rules of a kind claim to `take`, and notes which of them could not speak.
template <class Take>
void ask_all(RuleKind kind, const Signals& signals, Diagnosis& diagnosis, Take take) {
  for (const Rule& rule : all_rules()) {
    if (rule.kind != kind) continue;
    RuleAnswer answer = ask(rule, signals);
    if (answer.abstention) diagnosis.abstentions.push_back(std::move(*answer.abstention));
    if (answer.claim) take(rule, std::move(*answer.claim));
  }
}

void ask_for_causes(const Signals& signals, Diagnosis& diagnosis) {
  ask_all(RuleKind::kCause, signals, diagnosis, [&](const Rule& rule, Claim claim) {
    Finding finding;
    finding.cause = std::string(rule.cause);
    finding.share = claim.weight;
    finding.evidence = std::move(claim.evidence);
    finding.reasons.emplace_back(rule.name);
    explain(signals, finding, diagnosis.abstentions);
    diagnosis.findings.push_back(std::move(finding));
  });
  // gpu_busy is not idle time: its share is the largest whenever it speaks.
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.share > b.share; });
}

void ask_for_conditions(const Signals& signals, Diagnosis& diagnosis) {
  ask_all(RuleKind::kCondition, signals, diagnosis, [&](const Rule& rule, Claim claim) {
    diagnosis.conditions.push_back({std::string(rule.name), std::move(claim.evidence)});
  });
}

void ask_for_hints(const Signals& signals, Diagnosis& diagnosis) {
  ask_all(RuleKind::kHint, signals, diagnosis, [&](const Rule& rule, const Claim& claim) {
    if (claim.evidence.empty()) return;
    diagnosis.hints.push_back(
        {std::string(rule.name), claim.evidence.front(), std::string(rule.cannot_tell)});
  });
}

}  // namespace

bool is_about_as_large(const Finding& second, const Finding& first) {
  constexpr double kMargin = 0.2;  // of the first's share
  return first.share - second.share < kMargin * first.share;
}

void conclude(const Signals& signals, Diagnosis& diagnosis) {
  ask_for_causes(signals, diagnosis);
  judge(signals, diagnosis.findings);
  ask_for_conditions(signals, diagnosis);
  ask_for_hints(signals, diagnosis);
}

}  // namespace unstarve::diagnose
