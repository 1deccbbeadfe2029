#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_folder.h"
#include "host/cgroup.h"
#include "host/effective_cpus.h"
#include "host/host_files.h"
#include "host/procfs.h"

namespace unstarve::host {
namespace {

/// A root with the files that a test writes down.
class RecordedHost : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path full = folder_.path() + path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  /// Eight CPUs, all allowed.
  void write_machine() {
    write("/sys/devices/system/cpu/online", "0-7\n");
    write("/proc/self/status", "Name:\tpython\nCpus_allowed_list:\t0-7\n");
  }
  void write_unified(const std::string& membership, const std::string& mount_root) {
    write("/proc/self/cgroup", "0::" + membership + "\n");
    write("/proc/self/mountinfo",
          "30 23 0:26 " + mount_root +
              " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }

  TestFolder folder_;
  HostFiles files_{folder_.path()};
};

// As read from a Debian 12 host.
constexpr const char* kStat =
    "4711 (python (train) x) S 4700 4711 4700 34816 4711 4194304 90001 12 3 0 1234 567 8 9 20 0 17 "
    "0 881234 9876543210 51234 18446744073709551615 1 1 0 0 0 0 0 16781312 134235906 0 0 0 17 3 0 "
    "0 "
    "42 0 0 0 0 0 0 0 0 0 0\n";

TEST(ProcessStat, ReadsTheFieldsBehindANameWithBlanksAndParentheses) {
  const Result<ProcessStat> stat = parse_process_stat(kStat);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 4711);
  EXPECT_EQ(stat->command, "python (train) x");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 4700);
  EXPECT_EQ(stat->user_ticks, 1234);
  EXPECT_EQ(stat->system_ticks, 567);
  EXPECT_EQ(stat->reaped_user_ticks, 8);
  EXPECT_EQ(stat->reaped_system_ticks, 9);
  EXPECT_EQ(stat->threads, 17);
  EXPECT_EQ(stat->start_ticks, 881234);
  EXPECT_EQ(stat->resident_pages, 51234);
  EXPECT_EQ(stat->block_io_ticks, 42);
}

TEST(ProcessStat, EveryPrefixIsReadOrRefused) {
  const std::string_view whole = kStat;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<ProcessStat> stat = parse_process_stat(whole.substr(0, size));
    if (stat) {
      EXPECT_EQ(stat->resident_pages, 51234) << size;
    }
  }
  EXPECT_FALSE(parse_process_stat("4711 (x) S 1 2 3"));
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat(")("));
}

TEST(ProcessIo, NeedsItsThreeLines) {
  const Result<ProcessIo> io = parse_process_io(
      "rchar: 100\nwchar: 6\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8\n"
      "cancelled_write_bytes: 0\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_chars, 100);
  EXPECT_EQ(io->read_bytes, 4096);
  EXPECT_EQ(io->write_bytes, 8);
  EXPECT_FALSE(parse_process_io("rchar: 100\n"));
}

TEST(SchedulerStat, IsRunAndWaitTime) {
  const Result<SchedulerStat> stat = parse_scheduler_stat("81 9 3\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->run_ns, 81);
  EXPECT_EQ(stat->wait_ns, 9);
  EXPECT_FALSE(parse_scheduler_stat("81"));
}

TEST(MemoryInfo, IsInBytes) {
  const Result<MemoryInfo> memory = parse_memory_info(
      "MemTotal:       24576 kB\nMemFree:  1 kB\nMemAvailable:   512 kB\nCached: 2 kB\n"
      "SwapCached: 99 kB\nDirty: 3 kB\n");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 24576 * 1024);
  EXPECT_EQ(*memory->available_bytes, 512 * 1024);
  EXPECT_EQ(*memory->cached_bytes, 2 * 1024);
  EXPECT_FALSE(parse_memory_info("MemTotal: 18446744073709551615 kB\n"));
  EXPECT_FALSE(parse_memory_info("MemTotal: 9223372036854775807 kB\n"));
}

TEST(CpuTimes, SeparatesBusyFromIdle) {
  const Result<CpuTimes> times = parse_cpu_times("cpu  10 1 5 100 7 2 3 4 9 9\ncpu0 1 1\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->busy_ticks, 25);
  EXPECT_EQ(times->idle_ticks, 100);
  EXPECT_EQ(times->io_wait_ticks, 7);
  EXPECT_FALSE(parse_cpu_times("cpu0 1 1"));
}

TEST(PressureFile, FullMayBeMissing) {
  const Result<Pressure> cpu =
      parse_pressure("some avg10=0.35 avg60=3.22 avg300=1.64 total=11966547\n");
  ASSERT_TRUE(cpu);
  EXPECT_EQ(cpu->some_us, 11966547);
  EXPECT_FALSE(cpu->full_us);
  const Result<Pressure> io = parse_pressure("some avg10=0.00 total=5\nfull avg10=0.00 total=3\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(*io->full_us, 3);
  EXPECT_FALSE(parse_pressure("some avg10=0.00\n"));
}

TEST(CpuList, CountsRanges) {
  EXPECT_EQ(*count_cpu_list("0-3,8,10-11\n"), 7);
  EXPECT_EQ(*count_cpu_list(""), 0);
  EXPECT_FALSE(count_cpu_list("3-1"));
  EXPECT_FALSE(count_cpu_list("a"));
  EXPECT_FALSE(count_cpu_list("0-99999999999"));
}

TEST(CgroupTexts, AreReadStrictly) {
  EXPECT_DOUBLE_EQ(**parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_FALSE(*parse_cpu_max("max 100000\n"));
  EXPECT_FALSE(parse_cpu_max("max\n"));
  EXPECT_FALSE(parse_cpu_max("1 0\n"));
  EXPECT_EQ(*parse_flat_keyed("nr_periods 3\nnr_throttled 2\n", "nr_throttled"), 2);
  EXPECT_FALSE(parse_flat_keyed("nr_throttled_x 2\n", "nr_throttled"));
  EXPECT_EQ(*parse_io_stat("8:0 rbytes=10 wbytes=3 rios=1\n8:16 rbytes=5 wbytes=0\n"), 15);
  EXPECT_EQ(*parse_io_stat(""), 0);
  EXPECT_EQ(*parse_blkio_bytes("8:0 Read 7\n8:0 Write 9\n8:16 Read 1\nTotal 17\n"), 8);
}

TEST_F(RecordedHost, AWholeMachineIsBoundByTheMachine) {
  write_machine();
  write_unified("/", "/");
  const Result<EffectiveCpus> cpus = effective_cpus(files_);
  ASSERT_TRUE(cpus);
  EXPECT_EQ(cpus->count, 8);
  EXPECT_EQ(cpus->bound, CpuBound::kMachine);
  EXPECT_FALSE(cpus->quota_cores);
}

TEST_F(RecordedHost, AContainersQuotaIsFoundAtItsMountPoint) {
  // Without a cgroup namespace the membership names the path on the host.
  write_machine();
  write_unified("/docker/abc", "/docker/abc");
  write("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  write("/sys/fs/cgroup/cpuset.cpus.effective", "0-3\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  write("/sys/fs/cgroup/memory.current", "4096\n");
  write("/sys/fs/cgroup/cpu.stat", "usage_usec 1\nnr_throttled 4\nthrottled_usec 2000\n");
  const Result<EffectiveCpus> cpus = effective_cpus(files_);
  ASSERT_TRUE(cpus);
  EXPECT_EQ(cpus->count, 3);
  EXPECT_DOUBLE_EQ(cpus->cores, 2.5);
  EXPECT_EQ(cpus->bound, CpuBound::kQuota);
  EXPECT_EQ(*cpus->cpuset, 4);

  const Result<CgroupFolders> folders = find_cgroup(files_, 0);
  ASSERT_TRUE(folders);
  const CgroupReadings group = read_cgroup(files_, *folders);
  EXPECT_EQ(*group.throttled_ns, 2'000'000);
  EXPECT_EQ(*group.memory_used_bytes, 4096);
  EXPECT_FALSE(group.memory_limit_bytes);
  EXPECT_FALSE(group.cpu_pressure);
}

TEST_F(RecordedHost, AGroupWhoseMountHasABlankInItsPathIsFound) {
  write_machine();
  write("/proc/self/cgroup", "0::/my jobs\\040/a\n");
  write("/proc/self/mountinfo",
        "30 23 0:26 /my\\040jobs\\134040 /mnt/c\\040groups rw - cgroup2 cgroup2 rw\n");
  write("/mnt/c groups/a/cpu.max", "150000 100000\n");
  const Result<CgroupFolders> folders = find_cgroup(files_, 0);
  ASSERT_TRUE(folders);
  EXPECT_EQ(folders->unified, "/mnt/c groups/a");
  EXPECT_DOUBLE_EQ(*quota_cores(files_, *folders), 1.5);
}

TEST_F(RecordedHost, AGroupIsFoundAmongThousandsOfMounts) {
  write_machine();
  const std::string layer = "40 23 0:50 / /a rw - overlay none lowerdir=" + std::string(900, 'x');
  std::string mounts;
  for (int i = 0; i < 2000; ++i) mounts += layer + "\n";
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", mounts + "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  const Result<CgroupFolders> folders = find_cgroup(files_, 0);
  ASSERT_TRUE(folders) << folders.error().message;
  EXPECT_EQ(folders->unified_mount, "/sys/fs/cgroup");
}

TEST_F(RecordedHost, TheTightestQuotaUpTheTreeCounts) {
  write_machine();
  write_unified("/slice/job", "/");
  write("/sys/fs/cgroup/slice/cpu.max", "100000 100000\n");
  write("/sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  write("/sys/fs/cgroup/slice/memory.max", "1000\n");
  write("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  const Result<CgroupFolders> folders = find_cgroup(files_, 0);
  ASSERT_TRUE(folders);
  EXPECT_DOUBLE_EQ(*quota_cores(files_, *folders), 1.0);
  EXPECT_EQ(*read_cgroup(files_, *folders).memory_limit_bytes, 1000);
}

TEST_F(RecordedHost, VersionOneIsReadPerController) {
  write_machine();
  write("/proc/self/cgroup",
        "4:memory:/process_api/b\n3:cpuset:/\n2:cpu,cpuacct:/jobs/7\n1:name=systemd:/\n0::/\n");
  write("/proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.cfs_quota_us", "150000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.stat", "nr_throttled 1\nthrottled_time 77\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-1\n");
  write("/sys/fs/cgroup/memory/process_api/b/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/process_api/b/memory.usage_in_bytes", "555\n");
  write("/sys/fs/cgroup/unified/cpu.pressure", "some avg10=0.00 total=12\n");
  const Result<EffectiveCpus> cpus = effective_cpus(files_);
  ASSERT_TRUE(cpus);
  EXPECT_DOUBLE_EQ(cpus->cores, 1.5);
  EXPECT_EQ(cpus->count, 2);
  EXPECT_EQ(cpus->bound, CpuBound::kQuota);

  const CgroupReadings group = read_cgroup(files_, *find_cgroup(files_, 0));
  EXPECT_EQ(*group.throttled_ns, 77);
  EXPECT_EQ(*group.memory_used_bytes, 555);
  EXPECT_FALSE(group.memory_limit_bytes);
  EXPECT_EQ((*group.cpu_pressure).some_us, 12);
}

TEST_F(RecordedHost, AffinityBinds) {
  write_machine();
  write("/proc/self/status", "Cpus_allowed_list:\t2,4\n");
  const Result<EffectiveCpus> cpus = effective_cpus(files_);
  ASSERT_TRUE(cpus);
  EXPECT_EQ(cpus->count, 2);
  EXPECT_EQ(cpus->bound, CpuBound::kAffinity);
}

TEST_F(RecordedHost, WithoutAnyFileThereIsAnErrorAndNoGuess) {
  EXPECT_FALSE(effective_cpus(files_));
  EXPECT_FALSE(find_cgroup(files_, 0));
}

TEST_F(RecordedHost, AFileThatIsTooLongIsRefused) {
  write("/proc/big", std::string(10'000, 'x'));
  EXPECT_FALSE(files_.read("/proc/big", 9'999));
  EXPECT_EQ(files_.read("/proc/big")->size(), 10'000U);
  EXPECT_EQ(files_.read("/proc/none").error().code, ErrorCode::kNotFound);
}

TEST_F(RecordedHost, ListsOnlyNumbers) {
  for (const char* name : {"1", "42", "self", "4x"}) write("/proc/" + std::string(name) + "/a", "");
  EXPECT_THAT(*files_.list_numbers("/proc"), testing::UnorderedElementsAre(1, 42));
}

TEST(ThisMachine, CanBeRead) {
  const HostFiles files;
  const Result<EffectiveCpus> cpus = effective_cpus(files);
  ASSERT_TRUE(cpus);
  EXPECT_GE(cpus->count, 1);
  EXPECT_TRUE(parse_memory_info(*files.read("/proc/meminfo")));
  EXPECT_TRUE(parse_process_stat(*files.read("/proc/self/stat")));
}

}  // namespace
}  // namespace unstarve::host
