#include "observe/outside/threads/training_source.h"

#include <algorithm>
#include <string>

#include "host/procfs.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kCpuWait{
    "job.training_cpu_wait_ratio", "ratio", "/proc/PID/task/TID/schedstat",
    "of the time, threads that train were ready but had no CPU; their mean"};

}  // namespace

void TrainingSource::note(std::int64_t pid, std::int64_t thread) {
  if (threads_.size() < kMostThreads) threads_.try_emplace({pid, thread});
}

TrainingSource::Waited TrainingSource::read(const Key& key, std::int64_t now_ns) {
  const std::string path =
      "/proc/" + std::to_string(key.first) + "/task/" + std::to_string(key.second) + "/schedstat";
  const Result<std::string> text = files_.read(path);
  if (!text) {
    const bool ended = text.error().code == ErrorCode::kNotFound;
    return {ended ? WhyAbsent::kNotObserved : WhyAbsent::kNoPermission, ended};
  }
  const Result<host::SchedulerStat> stat = host::parse_scheduler_stat(*text);
  if (!stat) return {WhyAbsent::kNotSupported, false};
  const double waited_s = static_cast<double>(stat->wait_ns) * 1e-9;
  return {threads_[key].per_second(waited_s, now_ns), false};
}

void TrainingSource::sample(const Tick& tick, SampleBook& book) {
  if (!tick.full_second || threads_.empty()) return;
  double sum = 0;
  double count = 0;
  WhyAbsent why = WhyAbsent::kNotObserved;
  for (auto thread = threads_.begin(); thread != threads_.end();) {
    const Waited waited = read(thread->first, tick.now_ns);
    if (waited.ratio) {
      sum += std::min(1.0, *waited.ratio);
      ++count;
    } else if (!waited.ended) {
      why = waited.ratio.why_absent();
    }
    thread = waited.ended ? threads_.erase(thread) : std::next(thread);
  }
  if (count > 0) {
    book.put(kCpuWait, "job", sum / count);
  } else if (why != WhyAbsent::kNotObserved) {
    book.put(kCpuWait, "job", why);
  }
}

}  // namespace unstarve::observe
