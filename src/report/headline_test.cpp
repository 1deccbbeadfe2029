#include "report/headline.h"

#include <gtest/gtest.h>

#include "report/testing/sample_report.h"

namespace unstarve::report {
namespace {

// The sentence of the verdict and the one under "Next" come from the same decision, which is
// advise's.
TEST(Headline, ShowsWhatWasDecided) {
  Report report = sample::report();
  EXPECT_EQ(leading_finding(report), &report.diagnosis.findings[0]);
  EXPECT_EQ(next_sentence(report.advice).find("Replace torch.utils.data.DataLoader"), 0U);
  EXPECT_NE(next_sentence(report.advice).find("(predicted 5.71x"), std::string::npos);
  report.advice.leading_finding = 1;
  report.advice.next_remedy->predicted = WhyAbsent::kNotObserved;
  EXPECT_EQ(leading_finding(report), &report.diagnosis.findings[1]);
  EXPECT_EQ(next_sentence(report.advice), report.advice.next_remedy->how);
}

TEST(Headline, IsSilentWhereNothingWasDecided) {
  const Report none;
  EXPECT_EQ(leading_finding(none), nullptr);
  EXPECT_EQ(next_sentence(none.advice), "");
}

TEST(Headline, OfATrialThatWeStoppedItSaysSo) {
  Report report = sample::report();
  report.facts.exit_code = 1;
  EXPECT_TRUE(job_failed(report.facts));
  EXPECT_EQ(what_happened(report).find("exit 1 after"), 0U);
  report.facts.stopped_by_us = true;
  report.facts.exit_signal = "SIGINT";
  EXPECT_FALSE(job_failed(report.facts));
  EXPECT_EQ(what_happened(report).find("Stopped by unstarve after"), 0U);
}

TEST(Headline, SaysHowLongAJobTookToItsFirstBatch) {
  Report report = sample::report();
  report.facts.duration_s = 100;
  const std::string plain = what_happened(report);
  report.facts.first_asked_s = 19;
  EXPECT_EQ(what_happened(report), plain) << "a fifth of it, and imports take some time";
  report.facts.first_asked_s = 41.3;
  EXPECT_NE(what_happened(report).find(", the first batch asked for after 41.3 s:"),
            std::string::npos)
      << what_happened(report);
}

TEST(Headline, TellsTheErrorThatEndedTheJob) {
  Report report;
  EXPECT_TRUE(error_sentences(report).empty());
  report.facts.error = {"ValueError", "too many", "train.py:3"};
  ASSERT_EQ(error_sentences(report).size(), 1U);
  EXPECT_EQ(error_sentences(report)[0], "ValueError at train.py:3: too many.");
  report.facts.error = {"torch.OutOfMemoryError", "CUDA out of memory.", ""};
  const std::string full = error_sentences(report)[0];
  EXPECT_EQ(full.find("torch.OutOfMemoryError: CUDA out of memory. Take smaller batches"), 0U);
  report.facts.error = {"Interrupted", "", ""};
  EXPECT_EQ(error_sentences(report)[0], "Interrupted.");
}

TEST(Headline, IsShortForEachCauseThatAPartitionHas) {
  Report report = sample::report();
  for (const char* const cause : {"input_wait", "sync", "launch", "exposed_copy",
                                  "exposed_communication", "kernel_wait", "gpu_busy"}) {
    report.diagnosis.findings[0].cause = cause;
    const std::string headline = short_headline(report);
    EXPECT_NE(headline.find("79 %"), std::string::npos) << headline;
    EXPECT_LE(std::count(headline.begin(), headline.end(), ' '), 12) << headline;
  }
  report.diagnosis.findings[0].cause = "other";
  EXPECT_EQ(short_headline(report), "") << "then the verdict stands there";
  report.facts.exit_code = 1;
  report.facts.error.kind = "torch.OutOfMemoryError";
  EXPECT_EQ(short_headline(report), "The job failed: torch.OutOfMemoryError.");
}

}  // namespace
}  // namespace unstarve::report
