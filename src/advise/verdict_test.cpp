#include "advise/verdict.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "advise/advice.h"
#include "diagnose/rules/all_rules.h"

namespace unstarve::advise {
namespace {

using diagnose::Diagnosis;

diagnose::Finding finding_with(const std::string& cause, const std::string& detail, double share) {
  diagnose::Finding finding;
  finding.cause = cause;
  finding.detail = detail;
  finding.share = share;
  finding.reasons = {cause, detail};
  return finding;
}

std::string verdict_of(const Diagnosis& diagnosis) { return advise(diagnosis, {}, {}).verdict; }

// A finding that has a detail says it in the sentence that most people read alone.
TEST(VerdictWords, AreThereForEveryDetail) {
  for (const diagnose::Rule& rule : diagnose::all_rules()) {
    if (rule.kind != diagnose::RuleKind::kDetail) continue;
    Diagnosis diagnosis;
    diagnosis.partition = diagnose::Partition();
    diagnosis.steps.count = 10;
    diagnosis.findings = {finding_with(std::string(rule.cause), std::string(rule.name), 0.95)};
    diagnosis.findings[0].reasons = {std::string(rule.cause)};
    EXPECT_NE(verdict_of(diagnosis).find(" because of "), std::string::npos) << rule.name;
  }
}

TEST(VerdictWords, OfAGpuThatComputesPaddingSayForHowLong) {
  Diagnosis diagnosis;
  diagnosis.partition = diagnose::Partition();
  diagnosis.steps.count = 10;
  diagnosis.findings = {finding_with("gpu_busy", "padding", 0.54)};
  diagnosis.signals.gpu_compute_ratio = 0.68;
  diagnosis.signals.padded_ratio = 0.8;
  const Advice advice = advise(diagnosis, {}, {});
  EXPECT_NE(advice.verdict.find("The GPU computes padding 54 % of the time; pad each batch"),
            std::string::npos)
      << advice.verdict;
  ASSERT_TRUE(advice.next_remedy);
  EXPECT_EQ(advice.next_remedy->id, "pad_to_the_longest");
}

TEST(VerdictWords, AreOtherOnesForEachDetail) {
  std::map<std::string_view, std::string> details;
  for (const diagnose::Rule& rule : diagnose::all_rules()) {
    if (rule.kind != diagnose::RuleKind::kDetail) continue;
    const std::string_view words = detail_words(rule.name);
    const auto [other, added] = details.emplace(words, rule.name);
    EXPECT_TRUE(added) << rule.name << " and " << other->second << ": " << words;
  }
}

}  // namespace
}  // namespace unstarve::advise
