#include "device/emulated/activity_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/cupti_ring.h"
#include "device/emulated/activity_writer.h"
#include "device/gpu_readings.h"

namespace unstarve::device::emulated {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMs;
constexpr std::int64_t kStart = 100 * kSecond;

class ActivityHistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "activity_history.ring";
    auto writer = ActivityWriter::create(profile_, {.path = path_, .now_ns = kStart});
    ASSERT_TRUE(writer) << writer.error().message;
    writer_.emplace(std::move(*writer));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void kernel(std::int64_t start_ns, std::int64_t end_ns, KernelId id = KernelId::kConvForward) {
    cupti::Kernel record;
    record.start_ns = static_cast<std::uint64_t>(start_ns);
    record.end_ns = static_cast<std::uint64_t>(end_ns);
    record.name = static_cast<std::uint64_t>(id);
    writer_->write(record);
  }
  ActivityHistory open() {
    auto history = ActivityHistory::open(path_);
    EXPECT_TRUE(history) << history.error().message;
    return std::move(*history);
  }

  std::string path_;
  Profile profile_ = *find_profile("a100");
  std::optional<ActivityWriter> writer_;
};

TEST_F(ActivityHistoryTest, HalfDutyReadsAsHalf) {
  for (int i = 0; i < 200; ++i) {
    kernel(kStart + i * 10 * kMs, kStart + i * 10 * kMs + 5 * kMs);
  }
  ActivityHistory history = open();
  EXPECT_EQ(history.latest().utilization_ratio, 0);
  ASSERT_TRUE(history.follow(kStart + 2 * kSecond));
  ASSERT_GE(history.windows().size(), 10U);
  for (std::size_t i = 1; i < history.windows().size(); ++i) {
    EXPECT_NEAR(history.windows()[i].utilization_ratio, 0.5, 0.031) << i;
  }
  EXPECT_EQ(history.latest().board.throttle_reasons & throttle::kIdle, 0U);
}

TEST_F(ActivityHistoryTest, OverlappingKernelsCountOnceAndTheFutureNotAtAll) {
  kernel(kStart, kStart + 50 * kMs);
  kernel(kStart + 20 * kMs, kStart + 50 * kMs);
  kernel(kStart + 10 * kSecond, kStart + 11 * kSecond);
  ActivityHistory history = open();
  ASSERT_TRUE(history.follow(kStart + kSecond));
  EXPECT_NEAR(history.windows()[1].utilization_ratio, 0.3, 0.001);
  EXPECT_EQ(history.latest().utilization_ratio, 0);
  EXPECT_EQ(history.latest().board.throttle_reasons, throttle::kIdle);
}

TEST_F(ActivityHistoryTest, AWindowIsClosedOnlyAfterItsGrace) {
  ActivityHistory history = open();
  ASSERT_TRUE(history.follow(kStart + ActivityHistory::kWindowNs));
  EXPECT_EQ(history.windows().size(), 1U);
  // Written late, for the window that has just ended.
  kernel(kStart, kStart + ActivityHistory::kWindowNs);
  ASSERT_TRUE(history.follow(kStart + ActivityHistory::kWindowNs + ActivityHistory::kGraceNs));
  EXPECT_EQ(history.latest().utilization_ratio, 1.0);
}

TEST_F(ActivityHistoryTest, CopiesCountBytesButNotAsUtilisation) {
  cupti::Memcpy copy;
  copy.copy_kind = static_cast<std::uint8_t>(cupti::CopyKind::kHostToDevice);
  copy.bytes = 1'000'000;
  copy.start_ns = static_cast<std::uint64_t>(kStart);
  copy.end_ns = static_cast<std::uint64_t>(kStart + 400 * kMs);
  writer_->write(copy);
  ActivityHistory history = open();
  ASSERT_TRUE(history.follow(kStart + kSecond));
  EXPECT_EQ(history.windows()[1].utilization_ratio, 0);
  EXPECT_GT(history.windows()[1].memory_controller_ratio, 0);
  EXPECT_NEAR(history.windows()[1].pcie_rx_bytes, 1e6 / 2.4, 10);
  EXPECT_NEAR(history.latest().pcie_rx_bytes, 1e6, 10);
  EXPECT_EQ(history.latest().pcie_tx_bytes, 0);
}

TEST_F(ActivityHistoryTest, NothingRunsAfterTheProcessEnded) {
  kernel(kStart, kStart + 20 * kSecond);
  ActivityHistory history = open();
  history.end_at(kStart + kSecond);
  ASSERT_TRUE(history.follow(kStart + 3 * kSecond));
  EXPECT_EQ(history.windows()[2].utilization_ratio, 1.0);
  EXPECT_EQ(history.latest().utilization_ratio, 0);
}

TEST_F(ActivityHistoryTest, DamagedRecordsAreLeftOut) {
  kernel(kStart + kSecond, kStart);
  kernel(0, INT64_MAX);
  kernel(INT64_MIN, kStart);
  kernel(kStart, kStart + kSecond, static_cast<KernelId>(9999));
  ActivityHistory history = open();
  ASSERT_TRUE(history.follow(kStart + 2 * kSecond));
  EXPECT_EQ(history.windows()[2].utilization_ratio, 1.0);
  EXPECT_EQ(history.latest().utilization_ratio, 0);
}

TEST_F(ActivityHistoryTest, ALongPauseKeepsOnlyTheLastWindows) {
  ActivityHistory history = open();
  ASSERT_TRUE(history.follow(kStart + 600 * kSecond));
  EXPECT_EQ(history.windows().size(), ActivityHistory::kWindowsKept);
  EXPECT_NEAR(history.latest().board.energy_j, 600 * profile_.idle_w, profile_.idle_w);
}

TEST_F(ActivityHistoryTest, AReaderThatComesDaysLateIsNotHeldUp) {
  ActivityHistory history = open();
  const std::int64_t now_ns = kStart + 1'000'000 * kSecond;
  ASSERT_TRUE(history.follow(now_ns));
  EXPECT_GT(history.latest().end_ns, now_ns - kSecond);
  EXPECT_NEAR(history.latest().board.energy_j, 1e6 * profile_.idle_w, 2 * profile_.idle_w);
}

TEST(ActivityHistory, ARingFromAnImpossibleTimeIsRefused) {
  const std::string path = ::testing::TempDir() + "impossible.ring";
  for (const std::int64_t created_ns : {INT64_MIN, INT64_MAX}) {
    auto writer =
        ActivityWriter::create(*find_profile("a100"), {.path = path, .now_ns = created_ns});
    ASSERT_TRUE(writer);
    EXPECT_EQ(ActivityHistory::open(path).error().code, ErrorCode::kCorruptData);
  }
  std::filesystem::remove(path);
}

TEST(ActivityHistory, ForeignRingsAreRefused) {
  const std::string path = ::testing::TempDir() + "foreign.ring";
  {
    auto hook = RingWriter::create(path, {});
    ASSERT_TRUE(hook);
    EXPECT_EQ(ActivityHistory::open(path).error().code, ErrorCode::kNotSupported);
  }
  for (const char* text : {"", "{", "[1]", "{}", R"({"emulated":true,"profile":"a100","names":1})",
                           R"({"emulated":true,"profile":"no","names":[],"index":0})"}) {
    auto ring = RingWriter::create(path, {.kind = RingKind::kDeviceActivity, .record_size = 256});
    ASSERT_TRUE(ring);
    ASSERT_TRUE(ring->set_text(text));
    EXPECT_FALSE(ActivityHistory::open(path)) << text;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(ActivityHistory::open(path).error().code, ErrorCode::kNotFound);
}

TEST(BoardModel, WarmsUpTowardsItsLoadAndCoolsAgain) {
  const Profile profile = *find_profile("a100");
  BoardModel board(profile);
  const double idle_c = board.state().temperature_c;
  for (int i = 0; i < 6 * 200; ++i) board.advance(1.0 / 6, 0.9, true);
  const double expected_w = profile.idle_w + 0.9 * (profile.peak_w - profile.idle_w);
  EXPECT_NEAR(board.state().power_w, expected_w, 0.5);
  EXPECT_NEAR(board.state().temperature_c, profile.ambient_c + profile.celsius_per_w * expected_w,
              0.5);
  EXPECT_NEAR(board.state().energy_j, 200 * expected_w, 0.01 * 200 * expected_w);
  EXPECT_EQ(board.state().sm_clock_mhz, profile.boost_sm_mhz);
  EXPECT_EQ(board.state().throttle_reasons, 0U);
  for (int i = 0; i < 6 * 300; ++i) board.advance(1.0 / 6, 0, false);
  EXPECT_NEAR(board.state().temperature_c, idle_c, 0.5);
  EXPECT_EQ(board.state().throttle_reasons, throttle::kIdle);
}

TEST(BoardModel, HoldsItselfAtThePowerCap) {
  const Profile profile = *find_profile("h100");
  BoardModel board(profile);
  for (int i = 0; i < 60; ++i) board.advance(1.0 / 6, 1.0, true);
  EXPECT_NEAR(board.state().power_w, profile.power_cap_w, 0.5);
  EXPECT_EQ(board.state().throttle_reasons, throttle::kSoftwarePowerCap);
  EXPECT_LT(board.state().sm_clock_mhz, profile.boost_sm_mhz);
}

TEST(BoardModel, ThermalSlowdownIsShown) {
  Profile profile = *find_profile("a100");
  profile.slowdown_c = 50;
  BoardModel board(profile);
  for (int i = 0; i < 600; ++i) board.advance(1.0 / 6, 0.8, true);
  EXPECT_EQ(board.state().throttle_reasons, throttle::kSoftwareThermal);
}

}  // namespace
}  // namespace unstarve::device::emulated
