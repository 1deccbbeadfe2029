#include "emulated/board/board_history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/cupti_ring.h"
#include "device/gpu_readings.h"
#include "emulated/board/device_watch.h"
#include "emulated/process/records/device_ring.h"

namespace unstarve::emulated {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 1'000'000 * kMs;

Profile board() {
  Profile profile;
  profile.multiprocessors = 100;
  profile.idle_w = 50;
  profile.peak_w = 450;
  profile.power_cap_w = 400;
  profile.ambient_c = 30;
  profile.celsius_per_w = 0.1;
  profile.idle_sm_mhz = 200;
  profile.boost_sm_mhz = 1400;
  profile.memory_mhz = 1500;
  return profile;
}

BoardOperation kernel(std::int64_t from_ms, std::int64_t to_ms) {
  BoardOperation operation;
  operation.start_ns = kStart + from_ms * kMs;
  operation.end_ns = kStart + to_ms * kMs;
  operation.power_load = 0.5;
  operation.dram_ratio = 0.2;
  return operation;
}

TEST(BoardHistory, KernelsOfSeveralProcessesCountOnceWhereTheyOverlap) {
  BoardHistory history(board(), kStart);
  history.add(10, kernel(0, 50));
  history.add(20, kernel(25, 75));
  history.close_until(kStart + 300 * kMs);
  ASSERT_EQ(history.windows().size(), 2U);
  const BoardHistory::Window& window = history.latest();
  EXPECT_NEAR(window.utilization_ratio, 75.0 / 166.7, 1e-3);
  EXPECT_NEAR(window.processes.at(10).kernel_ratio, 50.0 / 166.7, 1e-3);
  EXPECT_NEAR(window.processes.at(20).kernel_ratio, 50.0 / 166.7, 1e-3);
  EXPECT_NEAR(window.memory_controller_ratio, 0.2 * 100 / 166.7, 1e-3);
}

TEST(BoardHistory, AnOperationOverSeveralWindowsIsInEach) {
  BoardHistory history(board(), kStart);
  BoardOperation upload = kernel(100, 400);
  upload.kind = BoardOperation::Kind::kUpload;
  upload.bytes = 300e6;
  history.add(1, upload);
  history.close_until(kStart + 1000 * kMs);
  EXPECT_NEAR(history.windows()[1].pcie_rx_bytes, 66.7e6, 1e5);
  EXPECT_NEAR(history.windows()[2].pcie_rx_bytes, 233.3e6, 1e5);
  EXPECT_NEAR(history.latest().pcie_rx_bytes, 300e6, 1);
  EXPECT_EQ(history.latest().utilization_ratio, 0);
}

TEST(BoardHistory, WhatComesAfterItsWindowWasClosedIsLost) {
  BoardHistory history(board(), kStart);
  history.close_until(kStart + 400 * kMs);
  history.add(1, kernel(0, 100));
  history.add(1, kernel(450, 460));
  history.close_until(kStart + 800 * kMs);
  double busy = 0;
  for (const auto& window : history.windows()) busy += window.utilization_ratio;
  EXPECT_NEAR(busy, 10.0 / 166.7, 1e-3);
}

TEST(BoardHistory, PowerFollowsTheLoadAndIsIdleAgainAfterIt) {
  BoardHistory history(board(), kStart);
  history.add(1, kernel(0, 5000));
  history.close_until(kStart + 5000 * kMs);
  EXPECT_NEAR(history.latest().board.power_w, 50 + 0.5 * 400, 1);
  EXPECT_EQ(history.latest().board.sm_clock_mhz, 1400);
  const double energy_j = history.latest().board.energy_j;
  history.close_until(kStart + 10000 * kMs);
  EXPECT_NEAR(history.latest().board.power_w, 50, 1);
  EXPECT_EQ(history.latest().board.sm_clock_mhz, 200);
  EXPECT_GT(history.latest().board.energy_j, energy_j);
}

TEST(BoardHistory, WhoLooksAfterHoursWorksThroughTheLastMinutesAlone) {
  BoardHistory history(board(), kStart);
  history.add(1, kernel(0, 1000));
  const std::int64_t later = kStart + 36'000'000 * kMs;
  history.close_until(later);
  EXPECT_GT(history.latest().end_ns, later - 2 * BoardHistory::kWindowNs - kMs * 100);
  EXPECT_NEAR(history.latest().board.power_w, 50, 1);
}

TEST(BoardModel, ThePowerCapHoldsTheClockBackAndHeatIsSaid) {
  Profile profile = board();
  profile.power_tau_s = 0.2;
  profile.slowdown_c = 65;
  BoardModel model(profile);
  model.advance(10, 1, true);
  EXPECT_NEAR(model.state().power_w, 400, 1);
  EXPECT_LT(model.state().sm_clock_mhz, 1400);
  EXPECT_EQ(model.state().throttle_reasons, device::throttle::kSoftwarePowerCap);
  model.advance(1000, 1, true);
  EXPECT_NEAR(model.state().temperature_c, 30 + 0.1 * 400, 1);
  EXPECT_NE(model.state().throttle_reasons & device::throttle::kSoftwareThermal, 0U);
  model.advance(1000, 0, false);
  EXPECT_NEAR(model.state().temperature_c, 30 + 0.1 * 50, 1);
  EXPECT_EQ(model.state().throttle_reasons, device::throttle::kIdle);
}

class DeviceWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "device_watch_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  DeviceRing ring(int index, std::uint64_t capacity = 1 << 10) {
    auto made = DeviceRing::create(
        board(), {.folder = folder_, .index = index, .capacity = capacity, .now_ns = kStart});
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  static cupti::Kernel half_duty(int i) {
    cupti::Kernel record;
    record.start_ns = static_cast<std::uint64_t>(kStart + i * 10 * kMs);
    record.end_ns = record.start_ns + static_cast<std::uint64_t>(5 * kMs);
    return record;
  }
  std::string folder_;
};

TEST_F(DeviceWatchTest, ARingThatAppearsLaterIsFoundAndAnotherDevicesIsNot) {
  DeviceWatch watch(board(), 1, folder_, kStart);
  watch.follow(kStart);
  DeviceRing other = ring(0);
  DeviceRing own = ring(1);
  for (int i = 0; i < 100; ++i) {
    other.write(half_duty(i), "gemm");
    if (i % 2 == 0) own.write(half_duty(i), "gemm");
  }
  watch.follow(kStart + 1000 * kMs);
  EXPECT_NEAR(watch.history().latest().utilization_ratio, 0.25, 0.04);
  EXPECT_EQ(watch.history().latest().processes.count(::getpid()), 1U);
}

TEST_F(DeviceWatchTest, WhoLooksLateFindsTheBoardWarm) {
  DeviceRing own = ring(0);
  for (int i = 0; i < 20'000; ++i) own.write(half_duty(i), "gemm");
  DeviceWatch watch(board(), 0, folder_, kStart + 200'000 * kMs);
  watch.follow(kStart + 200'000 * kMs);
  const BoardHistory::Window& latest = watch.history().latest();
  EXPECT_NEAR(latest.utilization_ratio, 0.5, 0.04);
  // 200 s of it were 8 times the board's own time; 0.1 degrees for each watt.
  EXPECT_NEAR(latest.board.temperature_c, 30 + 0.1 * latest.board.power_w, 1);
  EXPECT_GT(latest.board.energy_j, 190 * latest.board.power_w * 0.95);
}

TEST_F(DeviceWatchTest, WhatIsNoRingIsPassedOver) {
  std::filesystem::create_directory(folder_ + "/gpu-0-1.ring");
  fclose(fopen((folder_ + "/gpu-0-2.ring").c_str(), "w"));
  DeviceWatch watch(board(), 0, folder_, kStart);
  watch.follow(kStart + 1000 * kMs);
  EXPECT_EQ(watch.history().latest().utilization_ratio, 0);
}

}  // namespace
}  // namespace unstarve::emulated
