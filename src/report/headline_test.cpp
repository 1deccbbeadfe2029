#include "report/headline.h"

#include <gtest/gtest.h>

#include "diagnose/diagnose.h"

namespace unstarve::report {
namespace {

diagnose::Remedy remedy(const std::string& id, const std::string& how) {
  diagnose::Remedy made;
  made.id = id;
  made.how = how;
  return made;
}

// The sentence of the verdict and the one under "Next" come from the same decision.
TEST(Headline, NamesTheRemedyThatTheVerdictNames) {
  diagnose::Diagnosis diagnosis;
  diagnosis.partition = diagnose::Partition{.input_wait = 0.5};
  diagnosis.steps.count = 10;
  diagnose::Finding finding;
  finding.cause = "input_wait";
  finding.share = 0.5;
  finding.remedies = {remedy("easy", "Set one number."), remedy("hard", "Pack everything.")};
  diagnosis.findings = {finding};
  // The harder one gains more, but not clearly so.
  diagnose::attach_predictions(diagnosis, {{"easy", {2.0, 1.9, 2.1}}, {"hard", {2.05, 2, 2.1}}});
  EXPECT_NE(diagnosis.verdict.find("set one number"), std::string::npos) << diagnosis.verdict;
  EXPECT_EQ(next_sentence(diagnosis).find("Set one number."), 0U) << next_sentence(diagnosis);

  diagnose::attach_predictions(diagnosis, {{"hard", {3.0, 2.9, 3.1}}});
  EXPECT_NE(diagnosis.verdict.find("pack everything"), std::string::npos) << diagnosis.verdict;
  EXPECT_EQ(next_sentence(diagnosis).find("Pack everything."), 0U) << next_sentence(diagnosis);
}

TEST(Headline, GoesOnToAFindingThatHasARemedy) {
  diagnose::Diagnosis diagnosis;
  EXPECT_EQ(next_sentence(diagnosis), "");
  diagnose::Finding sync;
  sync.cause = "other";
  sync.share = 0.5;
  diagnosis.findings = {sync};
  EXPECT_EQ(next_sentence(diagnosis), "");
  diagnose::Finding launch;
  launch.cause = "launch";
  launch.share = 0.02;
  launch.remedies = {remedy("graphs", "Capture a graph.")};
  diagnosis.findings.push_back(launch);
  EXPECT_EQ(next_sentence(diagnosis), "Capture a graph.");
}

}  // namespace
}  // namespace unstarve::report
