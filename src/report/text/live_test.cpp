#include "report/text/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "report/text/curve.h"

namespace unstarve::report {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSecond = 1'000'000'000;

const std::vector<double> kSawtooth = {0, 0.1, 0.9, 1, 0, 0, 0.5, 1};

LiveNumbers numbers() {
  LiveNumbers now;
  now.gpu_utilization = 0.34;
  now.cpu_cores = 1.02;
  now.samples_per_s = 157.3;
  now.wait_share = 0.79;
  return now;
}

TEST(Curve, DrawsOneColumnPerValue) {
  const double values[] = {0, 0.5, 1, std::nan(""), 2, -1};
  EXPECT_THAT(render_curve(values, 1, {}), ElementsAre("▁▄█ █▁"));
  EXPECT_THAT(render_curve(values, 2, {}), ElementsAre("  █ █ ", "▁██ █▁"));
  EXPECT_THAT(render_curve(values, 3, {80, false, false}), ElementsAre("_-# #_"));
}

TEST(Sawtooth, ShowsTheCurveAndTheNumbers) {
  EXPECT_EQ(render_sawtooth(kSawtooth, numbers(), {80, false, true}),
            "GPU             ▁▁▇█▁▁▄█  34 %  input wait 79 %    157 samples/s  1.0 CPU cores");
}

TEST(Sawtooth, DropsNumbersBeforeItWraps) {
  for (int width = 40; width <= 200; ++width) {
    LiveNumbers now = numbers();
    now.emulated = width % 2 == 0;
    const std::string line = render_sawtooth(kSawtooth, now, {width, false, true});
    EXPECT_LT(display_width(line), width);
    EXPECT_NE(line.find("▄█"), std::string::npos);
    EXPECT_EQ(line.find("emulated") != std::string::npos, now.emulated);
  }
}

TEST(Sawtooth, AbsentNumbersAreLeftOut) {
  EXPECT_EQ(render_sawtooth({}, LiveNumbers{}, {40, false, true}).find("%"), std::string::npos);
}

TEST(Sawtooth, WithoutAGpuNumbersStandAlone) {
  LiveNumbers now = numbers();
  now.gpu_utilization = WhyAbsent::kNotObserved;
  const std::vector<double> unknown = {std::nan(""), std::nan("")};
  EXPECT_EQ(render_sawtooth(unknown, now, {80, false, true}),
            "input wait 79 %    157 samples/s  1.0 CPU cores");
  EXPECT_EQ(render_sawtooth({}, LiveNumbers{}, {80, false, true}), "");
}

TEST(LiveVerdict, BeginsWithTheCauseAndItsShare) {
  LiveVerdict now;
  now.wait_share = 0.74;
  now.workers = 4;
  now.gpu_utilization = 0.22;
  now.samples_per_s = 812;
  now.steps = 120;
  EXPECT_EQ(render_verdict(now),
            "waits for data 74 % (4 workers), GPU busy 22 %, 812 samples/s, 120 steps");
  now.workers = 1;
  now.emulated = true;
  now.samples_per_s = WhyAbsent::kNotObserved;
  now.steps = 1;
  EXPECT_EQ(render_verdict(now), "waits for data 74 % (1 worker), emulated GPU busy 22 %, 1 step");
}

TEST(LiveGpuError, NamesTheGpuAndTheErrorInWords) {
  EXPECT_EQ(render_gpu_error("gpu0", 1, 79),
            "GPU 0 reported error XID 79 (GPU has fallen off the bus)");
  EXPECT_EQ(render_gpu_error("gpu12", 3, 140), "GPU 12 reported 3 errors, the last XID 140");
}

TEST(LiveVerdict, BlamesNoLoaderThatIsHardlyWaitedFor) {
  LiveVerdict now;
  now.wait_share = 0.01;
  now.workers = 4;
  now.gpu_utilization = 0.3;
  now.steps = 9;
  EXPECT_EQ(render_verdict(now),
            "hardly waits for data 1.0 %, GPU busy 30 % (idle for another reason), 9 steps");
}

class ProgressTest : public testing::Test {
 protected:
  ProgressLine line(bool rewrite) {
    ProgressOptions options;
    options.rewrite = rewrite;
    options.text.width = 40;
    return ProgressLine(clock_, options, [this](std::string_view s) { written_.emplace_back(s); });
  }

  ManualClock clock_;
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, SaysNothingOfWhatIsOverInASecond) {
  ProgressLine progress = line(true);
  EXPECT_FALSE(progress.update("step 1"));
  progress.finish("");
  EXPECT_TRUE(written_.empty());
}

TEST_F(ProgressTest, RewritesOneLineOnATerminal) {
  ProgressLine progress = line(true);
  clock_.advance_ns(kSecond);
  EXPECT_TRUE(progress.update("step 1"));
  EXPECT_FALSE(progress.update("step 2"));
  clock_.advance_ns(kSecond / 10);
  EXPECT_TRUE(progress.update("step 3"));
  progress.finish("3 steps");
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kstep 1", "\r\x1b[Kstep 3", "\r\x1b[K", "3 steps\n"));
}

TEST_F(ProgressTest, OnASharedTerminalTheJobWritesFromTheFirstColumnOn) {
  ProgressOptions options;
  options.rewrite = options.shared = true;
  options.quiet_ns = 0;
  ProgressLine progress(clock_, options, [this](std::string_view s) { written_.emplace_back(s); });
  progress.update("step 1");
  EXPECT_THAT(written_, ElementsAre("\r\x1b[Kstep 1\r"));
}

TEST_F(ProgressTest, PrintsALineNowAndThenElsewhere) {
  ProgressLine progress = line(false);
  for (int i = 0; i < 25; ++i) {
    progress.update("working");
    clock_.advance_ns(kSecond);
  }
  progress.finish("");
  EXPECT_THAT(written_, ElementsAre("working\n", "working\n"));
}

TEST_F(ProgressTest, ALongLineIsClippedSoThatItDoesNotWrap) {
  ProgressLine progress = line(true);
  clock_.advance_ns(kSecond);
  progress.update(std::string(100, 'x') + "\n");
  EXPECT_EQ(written_.front(), "\r\x1b[K" + std::string(38, 'x') + "…");
}

}  // namespace
}  // namespace unstarve::report
