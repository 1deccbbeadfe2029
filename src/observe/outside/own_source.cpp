#include "observe/outside/own_source.h"

#include <algorithm>

#include "host/procfs.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kOwnCpu{"unstarve.cpu_cores", "cores",
                                   "CPU clock of the sampling thread",
                                   "CPU time per second that watching takes"};
constexpr MetricDescriptor kTickCpu{"unstarve.tick_cpu_ns", "ns",
                                    "CPU clock of the sampling thread",
                                    "CPU time of one tick, mean over a second"};
constexpr MetricDescriptor kLate{"unstarve.tick_late_ns_max", "ns", "CLOCK_MONOTONIC",
                                 "how late the latest tick of a second began"};
constexpr MetricDescriptor kRowsLost{"unstarve.rows_lost", "count", "our own count",
                                     "rows and events that could not be written, so far"};
constexpr MetricDescriptor kRingLost{"unstarve.ring_records_lost", "count", "our own count",
                                     "records overwritten or damaged before we read them, so far"};
constexpr MetricDescriptor kOwnResident{"unstarve.resident_bytes", "bytes", "/proc/self/stat rss",
                                        "memory of unstarve in RAM"};

}  // namespace

void OwnSource::note(const TickCost& cost) {
  late_ns_max_ = std::max(late_ns_max_, cost.late_ns);
  cpu_ns_ += cost.cpu_ns;
  ++ticks_;
}

void OwnSource::note_losses(std::uint64_t rows, std::uint64_t ring_records) {
  rows_lost_ = rows;
  ring_records_lost_ = ring_records;
}

void OwnSource::sample(const Tick& tick, SampleBook& book) {
  if (!tick.full_second) return;
  if (ticks_ > 0 && tick.now_ns > since_ns_) {
    book.put(kOwnCpu, "unstarve",
             static_cast<double>(cpu_ns_) / static_cast<double>(tick.now_ns - since_ns_));
    book.put(kTickCpu, "unstarve", static_cast<double>(cpu_ns_) / static_cast<double>(ticks_));
    book.put(kLate, "unstarve", static_cast<double>(late_ns_max_));
    book.put(kRowsLost, "unstarve", static_cast<double>(rows_lost_));
    book.put(kRingLost, "unstarve", static_cast<double>(ring_records_lost_));
  }
  const Result<std::string> text = files_.read("/proc/self/stat");
  const Result<host::ProcessStat> stat =
      text ? host::parse_process_stat(*text) : Result<host::ProcessStat>(forward_error(text));
  book.put(kOwnResident, "unstarve",
           stat ? Reading<double>(static_cast<double>(stat->resident_pages * host::page_bytes()))
                : Reading<double>(WhyAbsent::kNotSupported));
  late_ns_max_ = 0;
  cpu_ns_ = 0;
  ticks_ = 0;
  since_ns_ = tick.now_ns;
}

}  // namespace unstarve::observe
