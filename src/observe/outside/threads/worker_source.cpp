#include "observe/outside/threads/worker_source.h"

#include <string>

#include "host/procfs.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kWorkers{
    "job.worker_cpu_cores", "cores", "/proc/PID/stat",
    "CPU seconds per second of processes that fetch batches and do not train"};
constexpr MetricDescriptor kFetchingThreads{"job.worker_fetch_cpu_cores", "cores",
                                            "/proc/PID/task/TID/stat",
                                            "of these, of the threads that fetch"};

}  // namespace

void WorkerSource::note(const trace::FetchRow& fetch) {
  if (training_.count(fetch.pid) != 0) return;
  if (workers_.size() < kMostWorkers) workers_[fetch.pid].thread = fetch.thread;
}

void WorkerSource::note_training(std::int64_t pid) {
  if (training_.insert(pid).second) workers_.erase(pid);
}

Reading<double> WorkerSource::cpu_s(const std::string& folder) const {
  const Result<std::string> text = files_.read(folder + "/stat");
  if (!text) {
    const bool ended = text.error().code == ErrorCode::kNotFound;
    return ended ? WhyAbsent::kNotObserved : WhyAbsent::kNoPermission;
  }
  const Result<host::ProcessStat> stat = host::parse_process_stat(*text);
  if (!stat) return WhyAbsent::kNotSupported;
  return static_cast<double>(stat->user_ticks + stat->system_ticks) /
         static_cast<double>(host::ticks_per_s());
}

void WorkerSource::sample(const Tick& tick, SampleBook& book) {
  if (!tick.full_second || workers_.empty()) return;
  double of_processes = 0;
  double of_threads = 0;
  bool known = false;
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const std::string folder = "/proc/" + std::to_string(worker->first);
    const Reading<double> process_s = cpu_s(folder);
    const Reading<double> thread_s =
        cpu_s(folder + "/task/" + std::to_string(worker->second.thread));
    if (!process_s || !thread_s) {
      const bool has_ended = process_s.why_absent() == WhyAbsent::kNotObserved ||
                             thread_s.why_absent() == WhyAbsent::kNotObserved;
      worker = has_ended ? workers_.erase(worker) : std::next(worker);
      continue;
    }
    const Reading<double> process = worker->second.process_s.per_second(*process_s, tick.now_ns);
    const Reading<double> thread = worker->second.thread_s.per_second(*thread_s, tick.now_ns);
    if (process && thread) {
      known = true;
      of_processes += *process;
      of_threads += *thread;
    }
    ++worker;
  }
  if (!known) return;
  book.put(kWorkers, "job", of_processes);
  book.put(kFetchingThreads, "job", of_threads);
}

}  // namespace unstarve::observe
