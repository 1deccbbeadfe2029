#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "observe/outside/sampler.h"

namespace unstarve::observe {
namespace {

constexpr pid_t kJob = 100;

/// Fails the call of number `fail_at`, and those after it if `for_ever`.
class FailingFiles final : public io::Files {
 public:
  Result<FileDescriptor> open(const std::string& path, int flags, unsigned mode) override {
    if (fails()) return fail(ErrorCode::kIo, "made to fail");
    return Files::open(path, flags, mode);
  }
  Result<std::size_t> read_at(int file, std::uint64_t offset,
                              std::span<std::byte> target) override {
    if (fails()) return fail(ErrorCode::kIo, "made to fail");
    return Files::read_at(file, offset, target);
  }
  Status list(const std::string& path,
              const std::function<void(std::string_view)>& visit) override {
    if (fails()) return fail(ErrorCode::kIo, "made to fail");
    return Files::list(path, visit);
  }

  std::int64_t fail_at = -1;
  bool for_ever = false;
  bool throws = false;  // as where no memory is left
  std::int64_t calls = 0;

 private:
  bool fails() {
    const std::int64_t number = calls++;
    const bool now = fail_at >= 0 && (number == fail_at || (for_ever && number > fail_at));
    if (now && throws) throw std::bad_alloc();
    return now;
  }
};

class HostFaults : public testing::Test {
 protected:
  void SetUp() override {
    write_machine();
    write_process(kJob, 1);
    write_process(101, kJob);
    write_process(7, 1);  // somebody else's
    auto made = trace::RunWriter::create(folder_.path() + "/run", {}, {});
    ASSERT_TRUE(made);
    writer_ = std::move(*made);
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = root_ + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void write_machine() {
    write("/proc/meminfo", "MemTotal: 4096 kB\nMemAvailable: 2048 kB\nCached: 1 kB\n");
    write("/proc/stat", "cpu  10 1 5 100 7 2 3 4 9 9\n");
    for (const char* name : {"cpu", "io", "memory"}) {
      write("/proc/pressure/" + std::string(name), "some avg10=0.00 total=5\n");
    }
    write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("/sys/devices/system/cpu/online", "0-3\n");
    write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    write("/sys/fs/cgroup/cpu.stat", "nr_throttled 2\nthrottled_usec 5\n");
    write("/sys/fs/cgroup/memory.current", "4096\n");
    write("/proc/self/stat", stat_of(1, 0));
    write("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    write("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "9999999\n");
    write_energy(9'000'000);
  }
  void write_energy(std::int64_t uj) {
    write("/sys/class/powercap/intel-rapl:0/energy_uj", std::to_string(uj) + "\n");
  }
  static std::string stat_of(std::int64_t pid, std::int64_t parent) {
    return std::to_string(pid) + " (python) S " + std::to_string(parent) +
           " 1 1 0 -1 0 0 0 0 0 50 5 0 0 20 0 3 0 77 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
           "0\n";
  }
  void write_process(std::int64_t pid, std::int64_t parent) {
    const std::string folder = "/proc/" + std::to_string(pid);
    write(folder + "/stat", stat_of(pid, parent));
    write(folder + "/io", "rchar: 5\nread_bytes: 1\nwrite_bytes: 2\n");
    write(folder + "/schedstat", "81 9 3\n");
    write(folder + "/status", "Cpus_allowed_list:\t0-3\nvoluntary_ctxt_switches: 4\n");
    write(folder + "/cgroup", "0::/\n");
  }

  /// Three seconds of sampling, with everything read every second.
  LiveView sample(std::shared_ptr<io::Files> failing) {
    const host::HostFiles files(root_, std::move(failing));
    Sampler sampler({&clock_, &files, nullptr, writer_.get()}, {.period_ns = kSecondNs}, kJob);
    for (int tick = 0; tick < 3; ++tick) {
      clock_.sleep_until_ns(sampler.next_deadline_ns());
      sampler.tick();
    }
    const LiveView view = sampler.live();
    EXPECT_EQ(sampler.finish().ticks, 3);
    return view;
  }
  static Reading<double> find(const LiveView& view, std::string_view name) {
    for (const LatestSample& sample : view.latest) {
      if (sample.name == name) return sample.value;
    }
    return {};
  }

  TestFolder folder_;
  std::string root_ = folder_.path() + "/root";
  ManualClock clock_{kSecondNs};
  std::unique_ptr<trace::RunWriter> writer_;
};

TEST_F(HostFaults, WantOfMemoryCostsAReadingAndIsTold) {
  const auto sound = std::make_shared<FailingFiles>();
  (void)sample(sound);
  const auto failing = std::make_shared<FailingFiles>();
  failing->throws = true;
  failing->fail_at = sound->calls - 1;  // in the last reading of three
  const host::HostFiles files(root_, failing);
  Sampler sampler({&clock_, &files, nullptr, writer_.get()}, {.period_ns = kSecondNs}, kJob);
  for (int tick = 0; tick < 4; ++tick) {
    clock_.sleep_until_ns(sampler.next_deadline_ns());
    sampler.tick();
  }
  const ObservationReport report = sampler.finish();
  EXPECT_EQ(report.ticks, 4);
  EXPECT_EQ(report.ticks_failed, 1);
  ASSERT_EQ(report.remarks.size(), 1U);
  EXPECT_NE(report.remarks[0].find("1 of 4 readings"), std::string::npos) << report.remarks[0];
}

TEST_F(HostFaults, WithoutFaultsEverythingIsThere) {
  const LiveView view = sample(std::make_shared<FailingFiles>());
  EXPECT_DOUBLE_EQ(*find(view, "job.processes"), 2.0);
  EXPECT_DOUBLE_EQ(*find(view, "job.cpu_cores"), 0.0);
  EXPECT_DOUBLE_EQ(*find(view, "job.effective_cores"), 1.5);
  EXPECT_DOUBLE_EQ(*find(view, "cgroup.throttled_cores"), 0.0);
  EXPECT_DOUBLE_EQ(*find(view, "host.memory_total_bytes"), 4096.0 * 1024.0);
}

TEST_F(HostFaults, TheProcessorsEnergyCountsOnWhenItsCounterWraps) {
  const host::HostFiles files(root_);
  Sampler sampler({&clock_, &files, nullptr, writer_.get()}, {.period_ns = kSecondNs}, kJob);
  for (const std::int64_t uj : {9'000'000, 9'999'999, 1'500'000}) {
    write_energy(uj);
    clock_.sleep_until_ns(sampler.next_deadline_ns());
    sampler.tick();
  }
  EXPECT_NEAR(*find(sampler.live(), "host.cpu_energy_j"), 2.5, 1e-9);
  write("/sys/class/powercap/intel-rapl:0/energy_uj", "");
  clock_.sleep_until_ns(sampler.next_deadline_ns());
  sampler.tick();
  EXPECT_FALSE(find(sampler.live(), "host.cpu_energy_j")) << "absent, not zero";
  (void)sampler.finish();
}

TEST_F(HostFaults, WithoutACounterTheProcessorsEnergyIsNotSupported) {
  std::filesystem::remove_all(root_ + "/sys/class/powercap");
  const LiveView view = sample(std::make_shared<FailingFiles>());
  EXPECT_EQ(find(view, "host.cpu_energy_j").why_absent(), WhyAbsent::kNotSupported);
}

TEST_F(HostFaults, LimitsAreReadAgainEveryMinuteThoughTicksWereSkipped) {
  const host::HostFiles files(root_);
  Sampler sampler({&clock_, &files, nullptr, writer_.get()}, {}, kJob);
  clock_.sleep_until_ns(sampler.next_deadline_ns());
  sampler.tick();
  write("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  clock_.advance_ns(61 * kSecondNs);  // as a laptop's sleep does
  sampler.tick();
  EXPECT_DOUBLE_EQ(*find(sampler.live(), "job.effective_cores"), 2.0);
  (void)sampler.finish();
}

TEST_F(HostFaults, EachReadMayFailOnceOrForEver) {
  const auto counting = std::make_shared<FailingFiles>();
  sample(counting);
  ASSERT_GT(counting->calls, 90);
  for (std::int64_t at = 0; at < counting->calls; ++at) {
    for (const bool for_ever : {false, true}) {
      const auto files = std::make_shared<FailingFiles>();
      files->fail_at = at;
      files->for_ever = for_ever;
      const LiveView view = sample(files);
      EXPECT_EQ(view.ticks, 3);
      // A reading that failed is absent, not zero.
      const Reading<double> total = find(view, "host.memory_total_bytes");
      EXPECT_DOUBLE_EQ(total.value_or(4096.0 * 1024.0), 4096.0 * 1024.0);
      if (for_ever && at == 0) {
        EXPECT_FALSE(total);
      }
    }
  }
}

}  // namespace
}  // namespace unstarve::observe
