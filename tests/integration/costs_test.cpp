#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "cost/cost.h"
#include "device/cuda/nvml_monitor.h"
#include "device/cuda/testing/fake_nvml.h"
#include "diagnose/diagnose.h"
#include "observe/outside/sampler.h"
#include "trace/load_run.h"

namespace unstarve {
namespace {

constexpr pid_t kJob = 100;
constexpr std::int64_t kFirstStepS = 5;
constexpr std::int64_t kLastStepS = 25;
constexpr std::int64_t kEndS = 30;
constexpr double kIdleW = 60;
constexpr double kBusyW = 310;
constexpr double kCpuW = 40;

/// A job of 30 s on a machine with stand-ins for NVML and RAPL, whose counters are known: from the
/// sampler to the costs. It uses one of the four CPUs, and another program one more.
class MeasuredJob : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }

  /// What the machine says `at_s` into the run; the kernel counts in hundredths of a second.
  void write_machine(std::int64_t at_s) {
    const std::int64_t ticks = 100 * at_s;
    write("/proc/stat", "cpu  " + std::to_string(2 * ticks) + " 0 0 100 0 0 0 0 0 0\n");
    write("/proc/100/stat",
          "100 (python) S 1 1 1 0 -1 0 0 0 0 0 " + std::to_string(ticks) +
              " 0 0 0 20 0 3 0 77 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    const std::string rapl = "/sys/class/powercap/intel-rapl:0/";
    write(rapl + "name", "package-0\n");
    write(rapl + "max_energy_range_uj", "999999999\n");
    const auto uj = static_cast<std::int64_t>(1e6 * kCpuW) * at_s + 500'000'000;
    write(rapl + "energy_uj", std::to_string(uj % 1'000'000'000) + "\n");  // it wraps
  }

  /// One step a second; `cuda`: what it says that it trains on.
  void write_steps(trace::RunWriter& writer) {
    trace::ProcessRow row;
    row.id.pid = kJob;
    writer.add(row);
    writer.set_process_text(row.id,
                            R"({"role": "main", "trains_on": {"device": "cuda", "ordinal": 0}})");
    for (std::int64_t s = kFirstStepS - 1; s < kLastStepS; ++s) {  // the first is a warm-up
      writer.add(trace::StepRow{kJob, kJob, s, {s * kSecondNs, (s + 1) * kSecondNs}, 64});
    }
  }

  cost::Usage measure() {
    trace::RunInfo info;
    info.started_ns = 0;
    auto writer = trace::RunWriter::create(folder_.path() + "/run", info, {});
    EXPECT_TRUE(writer);
    auto library = device::NvmlLibrary::load(nvml_.lookup(), "fake");
    EXPECT_TRUE(library);
    device::NvmlMonitor monitor(std::move(*library), clock_);
    write_machine(0);
    const host::HostFiles files(root_);
    observe::Sampler sampler({&clock_, &files, &monitor, writer->get()}, {}, kJob);
    for (std::int64_t tick = 0; tick <= 10 * kEndS; ++tick) {
      const std::int64_t at_ns = tick * kSecondNs / 10;
      if (clock_.now_ns() < at_ns) clock_.sleep_until_ns(at_ns);
      if (tick % 10 == 0) write_machine(tick / 10);
      const bool trains = at_ns > kFirstStepS * kSecondNs && at_ns <= kLastStepS * kSecondNs;
      if (tick > 0) nvml_.energy_mj += static_cast<std::uint64_t>(100 * (trains ? kBusyW : kIdleW));
      sampler.tick();
    }
    (void)sampler.finish();
    write_steps(**writer);
    EXPECT_TRUE((*writer)->finish(kEndS * kSecondNs, 0));
    return read_usage();
  }

  cost::Usage read_usage() {
    const auto run = trace::RunReader::open(folder_.path() + "/run");
    const auto timeline = trace::load_run(folder_.path() + "/run");
    EXPECT_TRUE(run && timeline);
    const job::JobView job(*timeline);
    const diagnose::PartitionedJob partitioned(job);
    return cost::usage_of(*run, partitioned, diagnose::diagnose(partitioned, {}));
  }

  TestFolder folder_;
  std::string root_ = folder_.path() + "/root";
  device::test::FakeNvml nvml_;
  ManualClock clock_{0};
};

TEST_F(MeasuredJob, TakesWhatTheCountersSay) {
  const cost::Usage usage = measure();
  EXPECT_DOUBLE_EQ(usage.seconds[0], kFirstStepS);
  EXPECT_DOUBLE_EQ(usage.seconds[1], kLastStepS - kFirstStepS);
  EXPECT_DOUBLE_EQ(usage.seconds[2], kEndS - kLastStepS);
  ASSERT_EQ(usage.gpus.size(), 1U);
  const cost::UsedGpu& gpu = usage.gpus.front();
  EXPECT_EQ(gpu.seconds, usage.seconds);
  EXPECT_EQ(gpu.index, 0);
  EXPECT_FALSE(gpu.by_power);
  const double trained_j = kBusyW * (kLastStepS - kFirstStepS);
  EXPECT_NEAR(*gpu.energy[1].joules, trained_j, 0.02 * trained_j);
  EXPECT_NEAR(*gpu.energy[0].joules, kIdleW * kFirstStepS, 0.02 * kIdleW * kFirstStepS);
  EXPECT_NEAR(gpu.energy[1].covered_ratio, 1, 1e-6);
  // Half of the CPU time that the machine was busy for is the job's.
  const double job_j = kCpuW / 2 * (kLastStepS - kFirstStepS);
  ASSERT_TRUE(usage.cpu[1].joules);
  EXPECT_NEAR(*usage.cpu[1].joules, job_j, 0.05 * job_j);
}

TEST_F(MeasuredJob, OnPartOfAGpuTakesEnergyThatNobodyKnows) {
  nvml_.instances = {"MIG-a"};
  const cost::Usage usage = measure();
  ASSERT_EQ(usage.gpus.size(), 1U);
  EXPECT_TRUE(usage.gpus.front().split);
  for (const cost::Energy& energy : usage.gpus.front().energy) {
    EXPECT_EQ(energy.joules.why_absent(), WhyAbsent::kNotSupported);
  }
}

TEST_F(MeasuredJob, OnAGpuWithoutACounterTakesItsPowerAddedUp) {
  nvml_.failing["nvmlDeviceGetTotalEnergyConsumption"] = device::nvml::Return::kNotSupported;
  const cost::Usage usage = measure();
  ASSERT_EQ(usage.gpus.size(), 1U);
  EXPECT_TRUE(usage.gpus.front().by_power);
  constexpr double kPowerW = 250.5;  // of the stand-in, all the time
  const double joules = kPowerW * (kLastStepS - kFirstStepS);
  EXPECT_NEAR(*usage.gpus.front().energy[1].joules, joules, 0.02 * joules);
}

}  // namespace
}  // namespace unstarve
