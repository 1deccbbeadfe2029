#include "report/words/words.h"
#include "base/number_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "report/testing/sample_report.h"

namespace unstarve::report {
namespace {

using testing::ElementsAre;

int sum_of(const std::vector<RoundedShare>& shares) {
  return std::accumulate(shares.begin(), shares.end(), 0,
                         [](int sum, const RoundedShare& share) { return sum + share.per_mille; });
}

TEST(Words, PrintedSharesAlwaysAddUp) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0, 1);
  for (int round = 0; round < 1000; ++round) {
    diagnose::Partition partition;
    for (const ShareWord& word : share_words()) partition.*word.share = std::pow(weight(random), 5);
    EXPECT_EQ(sum_of(rounded_shares(partition)), 1000);
  }
}

TEST(Words, ApportionGivesTheRestToTheLargestRemainders) {
  const double thirds[] = {1, 1, 1};
  EXPECT_THAT(apportion(thirds, 10), ElementsAre(4, 3, 3));
  const double weights[] = {0.5, std::nan(""), -3, 0.25, 0.25};
  EXPECT_THAT(apportion(weights, 7), ElementsAre(3, 0, 0, 2, 2));
  const double none[] = {0, 0};
  EXPECT_THAT(apportion(none, 7), ElementsAre(0, 0));
}

TEST(Words, APartitionOfNothingHasNoShares) {
  EXPECT_TRUE(rounded_shares(diagnose::Partition{}).empty());
}

TEST(Words, ALongRunSaysWhatOfItIsKept) {
  RunFacts facts;
  facts.steps = 1'921'270;
  EXPECT_EQ(kept_text(facts), "");
  facts.kept = {32, 10, 60'042, 205};
  const std::string text = kept_text(facts);
  EXPECT_NE(text.find("of each 32 stretches of 10 s one is kept"), text.npos) << text;
  EXPECT_NE(text.find("60042 of 1921270 steps"), text.npos) << text;
  EXPECT_NE(text.find("205 more windows"), text.npos) << text;
}

TEST(Words, AnEmulatedDeviceIsAlwaysNamedSo) {
  Report report;
  EXPECT_EQ(device_text(report), "");
  report.facts.emulated = true;
  EXPECT_EQ(device_text(report), "emulated GPU");
  report.facts.emulated = false;
  report.diagnosis = sample::diagnosis();
  EXPECT_EQ(device_text(report), "NVIDIA A100-SXM4-40GB (emulated)");
}

TEST(Words, TheShownDeviceIsTheOneWhosePartitionIsShown) {
  diagnose::Diagnosis diagnosis = sample::diagnosis();
  diagnosis.devices.push_back(diagnosis.devices[0]);
  diagnosis.devices[1].info.index = 1;
  diagnosis.devices[0].partition = sample::fed_partition();
  EXPECT_EQ(shown_device(diagnosis)->info.index, 1);
  diagnosis.devices.clear();
  EXPECT_EQ(shown_device(diagnosis), nullptr);
}

TEST(RecordingNotes, SayHowMuchWasRecordedAndWhatItsEdgesTakeForGranted) {
  diagnose::DeviceDiagnosis device;
  device.span_us = 410e6;
  EXPECT_TRUE(recording_notes(device).empty());
  device.edge_busy_ratio = 0.05;
  diagnose::RecordedTime recorded;
  recorded.recorded_us = 34e6;
  recorded.windows = 3;
  recorded.steps = 120;
  recorded.partition.input_wait = 0.8;
  recorded.partition.gpu_compute = 0.2;
  device.recorded = recorded;
  const std::vector<std::string> notes = recording_notes(device);
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0], "GPU recorded in 34.0 s of 6 min 50 s: 3 windows, 120 steps.");
  EXPECT_NE(notes[1].find("gpu_compute 20.0 %, input_wait 80.0 %"), std::string::npos) << notes[1];
  EXPECT_EQ(notes[2].find("5.0 % of the recorded time"), 0U) << notes[2];
  device.recorded->recorded_us = device.span_us;
  EXPECT_EQ(recording_notes(device).size(), 1U) << "of what is whole nothing has to be said";
}

}  // namespace
}  // namespace unstarve::report
