#include "roofline/roofs/machine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <set>
#include <sstream>
#include <string_view>

#include "host/cgroup.h"
#include "host/effective_cpus.h"
#include "host/procfs.h"
#include "host/text_scan.h"

namespace unstarve::roofline {

namespace {

constexpr std::uint64_t kUsualCachesBytes = 32ULL << 20;
constexpr int kMostCacheIndex = 5;

/// "32768K" or "32M"; 0 for anything else.
std::uint64_t size_of_cache(const std::string& text) {
  std::uint64_t number = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && i < 12; ++i) {
    number = number * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  const char unit = i < text.size() ? text[i] : ' ';
  if (unit == 'K') return number << 10;
  if (unit == 'M') return number << 20;
  return 0;
}

/// The last-level caches, each counted once however many CPUs share it.
std::uint64_t all_caches(const host::HostFiles& files, std::int64_t cpus) {
  std::set<std::string> counted;
  std::uint64_t sum = 0;
  for (std::int64_t cpu = 0; cpu < cpus; ++cpu) {
    for (int index = kMostCacheIndex; index >= 0; --index) {
      const std::string folder =
          fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
      const auto size = files.read(folder + "size");
      if (!size) continue;
      const auto shared = files.read(folder + "shared_cpu_list");
      if (shared && counted.insert(*shared).second) sum += size_of_cache(*size);
      break;
    }
  }
  return sum == 0 ? kUsualCachesBytes : sum;
}

void look_at_memory(const host::HostFiles& files, const host::MemoryInfo& memory,
                    Machine& machine) {
  machine.memory_bytes = static_cast<std::uint64_t>(memory.total_bytes);
  machine.free_memory_bytes =
      static_cast<std::uint64_t>(memory.available_bytes.value_or(memory.total_bytes / 4));
  const auto folders = host::find_cgroup(files, 0);
  if (!folders) return;
  const host::CgroupReadings group = host::read_cgroup(files, *folders);
  if (!group.memory_limit_bytes) return;
  const auto limit =
      static_cast<std::uint64_t>(std::max<std::int64_t>(*group.memory_limit_bytes, 0));
  // What the page cache holds is given back when others want it.
  const std::int64_t held =
      group.memory_used_bytes.value_or(0) - group.memory_file_bytes.value_or(0);
  const auto used = static_cast<std::uint64_t>(std::max<std::int64_t>(held, 0));
  machine.memory_bytes = std::min(machine.memory_bytes, limit);
  machine.free_memory_bytes = std::min(machine.free_memory_bytes, limit > used ? limit - used : 0);
}

double own_cpu_s() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
    }
  }
  return sum;
}

}  // namespace

Result<Machine> look_at_machine(const host::HostFiles& files) {
  Machine machine;
  const auto cpus = host::effective_cpus(files);
  if (!cpus) return forward_error(cpus);
  machine.cores_allowed = cpus->cores;
  machine.cores_bound_by = host::to_string(cpus->bound);
  machine.quota_cores = cpus->quota_cores;
  machine.cpus = cpus->machine.value_or(cpus->count);
  machine.threads = std::max(1, static_cast<int>(std::floor(cpus->cores)));

  const auto cpuinfo = files.read("/proc/cpuinfo", host::kCpuinfoBytesMax);
  if (cpuinfo) {
    machine.cpu_model = host::cpuinfo_value(*cpuinfo, "model name");
    machine.cpu_vendor = host::cpuinfo_value(*cpuinfo, "vendor_id");
    const std::string family = host::cpuinfo_value(*cpuinfo, "cpu family");
    std::from_chars(family.data(), family.data() + family.size(), machine.cpu_family);
    std::istringstream flags(host::cpuinfo_value(*cpuinfo, "flags"));
    for (std::string flag; flags >> flag;) machine.cpu_flags.push_back(flag);
  }
  if (machine.cpu_model.empty()) machine.cpu_model = "unknown CPU";
  machine.caches_bytes = all_caches(files, machine.cpus);

  const auto meminfo = files.read("/proc/meminfo");
  if (!meminfo) return forward_error(meminfo);
  const auto memory = host::parse_memory_info(*meminfo);
  if (!memory) return forward_error(memory);
  look_at_memory(files, *memory, machine);

  utsname system{};
  if (::uname(&system) == 0) machine.kernel = system.release;
  return machine;
}

std::string machine_key(const Machine& machine) {
  // Of the memory what is left by the kernel varies a little from start to start.
  std::string text =
      fmt::format("{}|{}|{:.3f}|{}", machine.cpu_model, machine.cpus, machine.cores_allowed,
                  (machine.memory_bytes + (1ULL << 29)) >> 30);
  for (const MachineGpu& gpu : machine.gpus) text += fmt::format("|{}|{}", gpu.name, gpu.uuid);
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
  }
  return fmt::format("{:016x}", hash);
}

OthersCpu::OthersCpu(const host::HostFiles& files, const Clock& clock)
    : files_(files), clock_(clock), before_(look()) {}

OthersCpu::Moment OthersCpu::look() const {
  Moment moment;
  moment.now_ns = clock_.now_ns();
  moment.own_s = own_cpu_s();
  const auto text = files_.read("/proc/stat");
  if (!text) return moment;
  if (const auto times = host::parse_cpu_times(*text)) {
    moment.busy_s =
        static_cast<double>(times->busy_ticks) / static_cast<double>(host::ticks_per_s());
  }
  return moment;
}

Reading<double> OthersCpu::cores() {
  const Moment now = look();
  const Moment before = before_;
  before_ = now;
  const double elapsed_s = 1e-9 * static_cast<double>(now.now_ns - before.now_ns);
  if (!now.busy_s || !before.busy_s || elapsed_s <= 0) return WhyAbsent::kNotSupported;
  const double others_s = (*now.busy_s - *before.busy_s) - (now.own_s - before.own_s);
  return std::max(0.0, others_s / elapsed_s);
}

}  // namespace unstarve::roofline
