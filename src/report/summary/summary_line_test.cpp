#include "report/summary/summary_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "runs/cluster/job_records.h"
#include "trace/text/packed_text.h"

namespace unstarve::report {
namespace {

using ::testing::StartsWith;

nlohmann::json document_in(const std::string& line) {
  constexpr std::size_t kBytesMost = 65536;
  const auto text =
      trace::unpack_text(std::string_view(line).substr(runs::kSummaryPrefix.size()), kBytesMost);
  EXPECT_TRUE(text);
  return nlohmann::json::parse(text.value_or("null"));
}

Report starved() {
  Report report;
  report.diagnosis.run_id = "2026-05-01_14-03-22_train";
  diagnose::Finding finding;
  finding.cause = "input_wait";
  finding.detail = "python_transform";
  finding.share = 0.834;
  report.diagnosis.findings.push_back(finding);
  report.advice.leading_finding = 0;
  report.facts.scheduler = {{"job", "4711"}};
  report.facts.steps = 60;
  report.facts.exit_code = 0;
  return report;
}

TEST(SummaryLine, SaysWhatWasFound) {
  const auto line = summary_line(starved());
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, StartsWith(std::string(runs::kSummaryPrefix)));
  const nlohmann::json document = document_in(*line);
  EXPECT_EQ(document["run"], "2026-05-01_14-03-22_train");
  EXPECT_EQ(document["job"], "4711");
  EXPECT_EQ(document["cause"], "input_wait");
  EXPECT_EQ(document["share"], 0.834);
  EXPECT_EQ(document["steps"], 60);
  EXPECT_FALSE(document.contains("duration_s"));  // not known, so not 0
  EXPECT_EQ(*summary_line(starved()), *line);
}

TEST(SummaryLine, StaysBelowAKilobyteWhateverItsTexts) {
  Report report = starved();
  std::string noise;
  std::uint32_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    noise += static_cast<char>(33 + state % 90);
  }
  report.diagnosis.run_id = noise;
  report.facts.host = noise;
  report.facts.device = noise;
  for (const char* const name : {"job", "user", "account"}) {
    report.facts.scheduler.push_back({name, noise});
  }
  advise::Remedy remedy;
  remedy.id = "more_workers";
  remedy.how = noise;
  report.advice.next_remedy = remedy;
  const auto line = summary_line(report);
  ASSERT_TRUE(line);
  EXPECT_LE(line->size(), kSummaryBytesMax);
  EXPECT_EQ(document_in(*line)["change"], "more_workers");
}

}  // namespace
}  // namespace unstarve::report
