#include "observe/outside/job_source.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kCpu{"job.cpu_cores", "cores",
                                "/proc/PID/stat utime+stime, cutime+cstime",
                                "CPU time per second of the job's processes"};
constexpr MetricDescriptor kSystemCpu{"job.system_cpu_cores", "cores", "/proc/PID/stat stime",
                                      "the part of cpu_cores spent in the kernel"};
constexpr MetricDescriptor kBusiest{"job.busiest_process_cpu_cores", "cores", "/proc/PID/stat",
                                    "CPU time per second of the process that used most"};
constexpr MetricDescriptor kProcesses{"job.processes", "count", "/proc", "processes of the job"};
constexpr MetricDescriptor kThreads{"job.threads", "count", "/proc/PID/stat num_threads",
                                    "threads of the job"};
constexpr MetricDescriptor kResident{
    "job.resident_bytes", "bytes", "/proc/PID/stat rss",
    "memory in RAM, summed over the processes: shared pages count once per process"};
constexpr MetricDescriptor kBlockIo{"job.block_io_waiting_threads", "threads",
                                    "/proc/PID/stat delayacct_blkio_ticks",
                                    "mean number of threads that waited for block I/O"};

constexpr std::array<MetricDescriptor, kTreeCounters> kCounters = {{
    {"job.read_call_bytes_per_s", "bytes/s", "/proc/PID/io rchar",
     "returned by read calls, from the page cache or not"},
    {"job.storage_read_bytes_per_s", "bytes/s", "/proc/PID/io read_bytes",
     "fetched from storage devices for the job"},
    {"job.storage_write_bytes_per_s", "bytes/s", "/proc/PID/io write_bytes",
     "sent to storage devices for the job"},
    {"job.cpu_waiting_threads", "threads", "/proc/PID/schedstat",
     "mean number of the processes' first threads that were ready but had no CPU"},
    {"job.voluntary_switches_per_s", "1/s", "/proc/PID/status",
     "times per second that a process's first thread went to sleep"},
    {"job.involuntary_switches_per_s", "1/s", "/proc/PID/status",
     "times per second that a process's first thread lost its CPU to another"},
}};

double as_double(std::int64_t number) { return static_cast<double>(number); }

}  // namespace

void JobSource::sample(const Tick& tick, SampleBook& book) {
  const TreeReadings now = tree_.read();
  const double ticks_per_s = as_double(host::ticks_per_s());
  const double total_s = as_double(now.user_ticks + now.system_ticks) / ticks_per_s;
  const Reading<double> cores = cpu_.per_second(total_s, tick.now_ns);
  if (cores) {
    book.put(kCpu, "job", cores);
    book.put(kBusiest, "job",
             as_double(now.busiest_ticks) / ticks_per_s * 1e9 / as_double(tick.now_ns - last_ns_));
  }
  last_ns_ = tick.now_ns;
  if (!tick.full_second) return;
  const Reading<double> system_cores =
      system_cpu_.per_second(as_double(now.system_ticks) / ticks_per_s, tick.now_ns);
  if (system_cores) book.put(kSystemCpu, "job", system_cores);
  book.put(kProcesses, "job", as_double(now.processes));
  book.put(kThreads, "job", as_double(now.threads));
  book.put(kResident, "job", as_double(now.resident_pages * host::page_bytes()));
  // Zero since the job's start: the kernel does not account delays (kernel.task_delayacct is 0).
  const Reading<double> waited_s =
      now.block_io_ticks == 0 ? Reading<double>(WhyAbsent::kNotSupported)
                              : Reading<double>(as_double(now.block_io_ticks) / ticks_per_s);
  book.put(kBlockIo, "job", block_io_.per_second(waited_s, tick.now_ns));
  sample_counters(tick, book);
}

void JobSource::sample_counters(const Tick& tick, SampleBook& book) {
  const TreeCounters now = tree_.read_counters();
  for (std::size_t i = 0; i < now.size(); ++i) {
    // Nanoseconds waited per second are threads that wait.
    const double scale = i == static_cast<std::size_t>(TreeCounter::kCpuWaitNs) ? 1e-9 : 1.0;
    const Reading<double> counter =
        now[i] ? Reading<double>(as_double(*now[i]) * scale) : now[i].why_absent();
    const Reading<double> rate = counters_[i].per_second(counter, tick.now_ns);
    if (tick.number > 0) book.put(kCounters[i], "job", rate);
  }
}

}  // namespace unstarve::observe
