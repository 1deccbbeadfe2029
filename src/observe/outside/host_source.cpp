#include "observe/outside/host_source.h"

#include "host/procfs.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kBusy{"host.cpu_busy_cores", "cores", "/proc/stat",
                                 "CPU time per second of everything on the machine"};
constexpr MetricDescriptor kIoWait{"host.io_wait_cores", "cores", "/proc/stat iowait",
                                   "CPUs that idled while a read or write was outstanding"};
constexpr MetricDescriptor kMemoryTotal{"host.memory_total_bytes", "bytes", "/proc/meminfo",
                                        "RAM of the machine"};
constexpr MetricDescriptor kMemoryAvailable{"host.memory_available_bytes", "bytes",
                                            "/proc/meminfo MemAvailable",
                                            "RAM that could be had without swapping"};
constexpr MetricDescriptor kPageCache{"host.page_cache_bytes", "bytes", "/proc/meminfo Cached",
                                      "file contents kept in RAM"};

struct PressureMetric {
  const char* path;
  MetricDescriptor metric;
};
constexpr std::array<PressureMetric, 3> kPressures = {{
    {"/proc/pressure/cpu",
     {"host.cpu_pressure_ratio", "ratio", "/proc/pressure/cpu some total",
      "time in which at least one task was ready but had no CPU"}},
    {"/proc/pressure/io",
     {"host.io_pressure_ratio", "ratio", "/proc/pressure/io some total",
      "time in which at least one task waited for I/O"}},
    {"/proc/pressure/memory",
     {"host.memory_pressure_ratio", "ratio", "/proc/pressure/memory some total",
      "time in which at least one task waited for memory"}},
}};

Reading<double> bytes(const Reading<std::int64_t>& count) {
  if (!count) return count.why_absent();
  return static_cast<double>(*count);
}

}  // namespace

void HostSource::sample(const Tick& tick, SampleBook& book) {
  if (!tick.full_second) return;
  sample_cpu(tick, book);
  sample_memory(book);
  sample_pressure(tick, book);
}

void HostSource::sample_cpu(const Tick& tick, SampleBook& book) {
  const Result<std::string> text = files_.read("/proc/stat");
  const Result<host::CpuTimes> times =
      text ? host::parse_cpu_times(*text) : Result<host::CpuTimes>(forward_error(text));
  Reading<double> busy_s = WhyAbsent::kNotSupported;
  Reading<double> io_wait_s = WhyAbsent::kNotSupported;
  if (times) {
    const auto ticks_per_s = static_cast<double>(host::ticks_per_s());
    busy_s = static_cast<double>(times->busy_ticks) / ticks_per_s;
    io_wait_s = static_cast<double>(times->io_wait_ticks) / ticks_per_s;
  }
  const Reading<double> busy = busy_.per_second(busy_s, tick.now_ns);
  const Reading<double> io_wait = io_wait_.per_second(io_wait_s, tick.now_ns);
  if (tick.number == 0) return;
  book.put(kBusy, "host", busy);
  book.put(kIoWait, "host", io_wait);
}

void HostSource::sample_memory(SampleBook& book) {
  const Result<std::string> text = files_.read("/proc/meminfo");
  const Result<host::MemoryInfo> memory =
      text ? host::parse_memory_info(*text) : Result<host::MemoryInfo>(forward_error(text));
  if (!memory) {
    for (const MetricDescriptor& metric : {kMemoryTotal, kMemoryAvailable, kPageCache}) {
      book.put(metric, "host", why_absent(memory.error()));
    }
    return;
  }
  book.put(kMemoryTotal, "host", static_cast<double>(memory->total_bytes));
  book.put(kMemoryAvailable, "host", bytes(memory->available_bytes));
  book.put(kPageCache, "host", bytes(memory->cached_bytes));
}

void HostSource::sample_pressure(const Tick& tick, SampleBook& book) {
  for (std::size_t i = 0; i < kPressures.size(); ++i) {
    const Result<std::string> text = files_.read(kPressures[i].path);
    const Result<host::Pressure> pressure =
        text ? host::parse_pressure(*text) : Result<host::Pressure>(forward_error(text));
    const Reading<double> waited_s =
        pressure ? Reading<double>(static_cast<double>(pressure->some_us) * 1e-6)
                 : Reading<double>(why_absent(pressure.error()));
    const Reading<double> ratio = pressures_[i].per_second(waited_s, tick.now_ns);
    if (tick.number > 0) book.put(kPressures[i].metric, "host", ratio);
  }
}

}  // namespace unstarve::observe
