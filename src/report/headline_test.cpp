#include "report/headline.h"

#include <gtest/gtest.h>

#include "report/testing/sample_report.h"
#include "report/why.h"

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

TEST(Headline, SaysHowLittleOfAJobWasTraining) {
  Report report = sample::report();
  report.diagnosis.steps.count = 30;
  report.diagnosis.steps.mean_us = 2000;
  report.facts.duration_s = 10;
  EXPECT_NE(what_happened(report).find(" in 10.0 s, 60.0 ms of it training: "), std::string::npos)
      << what_happened(report);
  report.facts.duration_s = 0.5;
  EXPECT_EQ(what_happened(report).find("training"), std::string::npos) << what_happened(report);
}

TEST(Headline, NamesWhatIsWaitedFor) {
  Report report = sample::report();
  report.diagnosis.findings[0].cause = "sync";
  report.diagnosis.findings[0].detail = "read_back";
  EXPECT_EQ(short_headline(report), "The GPU idles 79 % of the time: the job reads values back.");
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
  report.facts.error = {"torch.AcceleratorError", "Did you ask for enough GPUs?", ""};
  EXPECT_EQ(error_sentences(report)[0], "torch.AcceleratorError: Did you ask for enough GPUs?");
  report.facts.error = {"Interrupted", "", ""};
  EXPECT_EQ(error_sentences(report)[0], "Interrupted.");
}

TEST(Headline, IsShortForEachCauseThatAPartitionHas) {
  Report report = sample::report();
  for (const char* const cause : {"input_wait", "sync", "launch", "exposed_copy",
                                  "exposed_communication", "kernel_wait", "gpu_busy", "other"}) {
    report.diagnosis.findings[0].cause = cause;
    const std::string headline = short_headline(report);
    EXPECT_NE(headline.find("79 %"), std::string::npos) << headline;
    EXPECT_LE(std::count(headline.begin(), headline.end(), ' '), 11) << headline;
  }
  report.facts.exit_code = 1;
  report.facts.error.kind = "torch.OutOfMemoryError";
  EXPECT_EQ(short_headline(report), "The job failed: torch.OutOfMemoryError.");
}

TEST(Headline, SaysOfAFailureWhatIsKnownOfIt) {
  Report report = sample::host_report();
  report.facts.exit_code = 3;
  EXPECT_EQ(short_headline(report), "The job failed with exit code 3.");
  report.facts.exit_signal = "SIGSEGV";
  EXPECT_EQ(short_headline(report), "The job ended by SIGSEGV.");
  report.diagnosis.gpu_errors = {{.device = 1, .xid = 79, .count = 1}};
  EXPECT_EQ(short_headline(report), "The job failed: GPU 1 reported XID 79.");
}

TEST(Headline, IsThereWhereNoFindingLeads) {
  Report report = sample::host_report();
  report.advice.leading_finding.reset();
  EXPECT_EQ(short_headline(report), "Training waits for data only 62 % of the time.");
  report.diagnosis.thread_time = WhyAbsent::kNotObserved;
  report.advice.verdict = "Nothing moved.";
  EXPECT_EQ(short_headline(report), "Nothing moved.");
  report.advice.verdict = "One two three four five six seven eight nine ten eleven twelve more.";
  EXPECT_EQ(short_headline(report), "Where the time goes was not recorded.");
}

TEST(Headline, NamesTheRankThatIsWaitedFor) {
  Report report = sample::report();
  report.diagnosis.ranks.rows.resize(4);
  report.diagnosis.ranks.rows[1].number = std::int64_t{1};
  diagnose::Straggler& late = report.diagnosis.ranks.straggler.emplace();
  late.row = 1;
  late.late_ratio = 0.9;
  EXPECT_EQ(short_headline(report), "Rank 1 of 4 is late: the others wait for it.");
}

TEST(Why, NamesTheLinesThatTakeMost) {
  Report report = sample::report();
  diagnose::CodeTime& code = report.diagnosis.findings[0].code;
  code.parts = {{"train.py:9", "crop(x)", "", 0.2, 20},
                {"", "", "decoding images", 0.5, 50},
                {"train.py:11", "a", "ToTensor", 0.1, 10},
                {"train.py:12", "b", "", 0.09, 9}};
  const Why why = why_of(report);
  EXPECT_EQ(why.of, "of making a sample");
  ASSERT_EQ(why.parts.size(), 3U);
  EXPECT_EQ(why.parts[0].what, "decoding images");
  EXPECT_EQ(why.parts[1].what, "crop(x)");
  EXPECT_EQ(why.parts[1].place, "train.py:9");
}

TEST(Why, WithoutLooksTellsByStagesAndThenByCauses) {
  Report report = sample::report();
  EXPECT_EQ(why_of(report).of, "of the training's time");
  EXPECT_EQ(why_of(report).parts.front().cause, "input_wait");
  report.diagnosis.signals.decode_ratio = 0.7;
  report.diagnosis.signals.collate_ratio = 0.01;
  ASSERT_EQ(why_of(report).parts.size(), 1U) << "what cannot be seen is left out";
  EXPECT_EQ(why_of(report).parts[0].what, "decoding images");
  EXPECT_TRUE(why_of(Report()).parts.empty());
}

}  // namespace
}  // namespace unstarve::report
