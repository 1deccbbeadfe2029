#include "sink/recent/recent_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sink/wire/gpu_subject.h"

namespace unstarve::sink {

namespace {

constexpr std::int64_t kNowSeconds = 10;  // what "now" means for shares and rates
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
/// A GPU that is used less does nothing: drivers read a percent of an idle one now and then.
constexpr double kIdleUtilization = 0.02;

}  // namespace

Status RecentJob::begins(const RunStart& run) {
  run_ = run;
  return {};
}

Status RecentJob::takes(const Sample& sample) {
  latest_[{sample.metric.name, sample.metric.subject}] = sample.value;
  if (!sample.value || !std::isfinite(*sample.value)) return {};
  Mean* mean = nullptr;
  if (sample.metric.name == "job.cpu_cores") {
    mean = &seconds_[second_of(sample.t_ns)].cpu_cores;
  } else if (sample.metric.name == "gpu.utilization_ratio") {
    const auto gpu = gpu_of(sample.metric.subject);
    if (gpu)
      mean = &seconds_[second_of(sample.t_ns)].gpu_utilization[static_cast<std::int64_t>(*gpu)];
  }
  if (mean == nullptr) return {};
  mean->add(*sample.value);
  forget();
  return {};
}

Status RecentJob::takes(const trace::StepRow& step) {
  steps_ = std::max(steps_, step.index + 1);
  step_ended_ns_ = std::max(step_ended_ns_, step.when.end_ns);
  progressed(step.when.end_ns);
  stepping_.insert(step.pid);
  // A process's first step begins with its hook, and holds imports and set-up.
  if (step.index == 0) return {};
  Second& second = seconds_[second_of(step.when.end_ns)];
  ++second.steps;
  second.step_ns += step.when.duration_ns();
  second.samples += step.samples.value_or(0);
  spread(step.when, [&step](Second& part, std::int64_t ns) { part.trained_ns[step.pid] += ns; });
  return {};
}

Status RecentJob::takes(const trace::WaitRow& wait) {
  if (stepping_.contains(wait.pid)) {
    spread(wait.when, [](Second& part, std::int64_t ns) { part.waiting_ns += ns; });
  }
  progressed(wait.when.end_ns);
  return {};
}

Status RecentJob::takes(const trace::SyncRow& sync) {
  if (stepping_.contains(sync.pid)) {
    spread(sync.when, [](Second& part, std::int64_t ns) { part.blocked_ns += ns; });
  }
  return {};
}

Status RecentJob::takes(const trace::HostWorkRow& work) {
  if (work.kind != trace::HostWorkKind::kSave && work.kind != trace::HostWorkKind::kCompilation &&
      work.kind != trace::HostWorkKind::kRecompilation) {
    return {};
  }
  saved_ns_ = std::max(saved_ns_, work.when.end_ns);
  progressed(work.when.end_ns);
  return {};
}

Status RecentJob::ends(const RunEnd& end) {
  ended_ns_ = end.ended_ns;
  return {};
}

void RecentJob::progressed(std::int64_t t_ns) { progress_ns_ = std::max(progress_ns_, t_ns); }

void RecentJob::forget() {
  while (seconds_.size() > 1 && seconds_.begin()->first < seconds_.rbegin()->first - kKeptSeconds) {
    seconds_.erase(seconds_.begin());
  }
}

template <class Add>
void RecentJob::spread(const trace::Interval& when, const Add& add) {
  const std::int64_t last = second_of(when.end_ns);
  std::int64_t second = std::max(second_of(when.start_ns), last - kKeptSeconds);
  for (; second <= last; ++second) {
    const std::int64_t begin = run_.started_ns + second * kSecondNs;
    const std::int64_t part =
        std::min(when.end_ns, begin + kSecondNs) - std::max(when.start_ns, begin);
    if (part > 0) add(seconds_[second], part);
  }
  forget();
}

template <class Value>
std::vector<double> RecentJob::curve(std::int64_t last, std::int64_t seconds,
                                     const Value& value) const {
  std::vector<double> values;
  for (std::int64_t second = std::max<std::int64_t>(0, last - seconds + 1); second <= last;
       ++second) {
    const auto known = seconds_.find(second);
    values.push_back(known == seconds_.end() ? kNothing : value(known->second));
  }
  return values;
}

Reading<double> RecentJob::latest(const std::string& metric, const std::string& subject) const {
  const auto known = latest_.find({metric, subject});
  return known == latest_.end() ? WhyAbsent::kNotObserved : known->second;
}

/// Rates and shares of the seconds up to the last step: what comes behind it is not known yet.
void RecentJob::add_training(std::int64_t last, report::LiveJob& job) const {
  std::int64_t trained_ns = 0, waiting_ns = 0, blocked_ns = 0, steps = 0, step_ns = 0;
  std::int64_t samples = 0;
  std::set<std::int64_t> ranks;
  for (auto at = seconds_.lower_bound(last - kNowSeconds + 1); at != seconds_.end(); ++at) {
    const Second& second = at->second;
    for (const auto& [pid, ns] : second.trained_ns) {
      trained_ns += ns;
      ranks.insert(pid);
    }
    // Waits of an evaluation are not a part of steps.
    waiting_ns += second.trained_ns.empty() ? 0 : second.waiting_ns;
    blocked_ns += second.trained_ns.empty() ? 0 : second.blocked_ns;
    steps += second.steps;
    step_ns += second.step_ns;
    samples += second.samples;
  }
  job.ranks = static_cast<std::int64_t>(ranks.size());
  if (trained_ns == 0 || steps == 0) return;
  const auto share = [trained_ns](std::int64_t ns) {
    return std::min(1.0, static_cast<double>(ns) / static_cast<double>(trained_ns));
  };
  job.waiting = share(waiting_ns);
  job.blocked = std::min(share(blocked_ns), 1 - *job.waiting);
  job.step_s = static_cast<double>(step_ns) / static_cast<double>(steps) * kSecondsPerNs;
  if (samples == 0) return;
  // Ranks step beside each other.
  job.samples_per_s = static_cast<double>(samples) * static_cast<double>(ranks.size()) /
                      (static_cast<double>(step_ns) * kSecondsPerNs);
}

template <class Of>
RecentJob::Mean RecentJob::mean_now(std::int64_t last, const Of& of) const {
  Mean mean;
  for (auto at = seconds_.lower_bound(last - kNowSeconds + 1); at != seconds_.end(); ++at) {
    mean += of(at->second);
  }
  return mean;
}

void RecentJob::add_gpus(std::int64_t last, std::int64_t curve_s, report::LiveJob& job) const {
  std::set<std::int64_t> gpus;
  for (const auto& [key, value] : latest_) {
    const auto gpu = gpu_of(key.second);
    if (gpu) gpus.insert(static_cast<std::int64_t>(*gpu));
  }
  for (const std::int64_t gpu : gpus) {
    const auto of_second = [gpu](const Second& second) {
      const auto known = second.gpu_utilization.find(gpu);
      return known == second.gpu_utilization.end() ? Mean() : known->second;
    };
    report::LiveGpu one;
    one.index = gpu;
    one.uuid = uuid_of(run_, static_cast<std::size_t>(gpu));
    one.curve = curve(last, curve_s, [&of_second](const Second& second) {
      return of_second(second).value().value_or(kNothing);
    });
    one.utilization = mean_now(last, of_second).value();
    const std::string subject = fmt::format("gpu{}", gpu);
    one.memory_bytes = latest("gpu.memory_used_bytes", subject);
    one.power_w = latest("gpu.power_w", subject);
    job.gpus.push_back(std::move(one));
  }
}

report::LiveState RecentJob::state(std::int64_t now_ns, const report::LiveJob& job) const {
  if (ended_ns_ != 0) return report::LiveState::kEnded;
  if (steps_ == 0) return report::LiveState::kStarting;
  // A job whose steps are long is not quiet between two of them.
  constexpr double kStepsOfPatience = 3;
  const double patience_s =
      std::max(static_cast<double>(kNowSeconds), kStepsOfPatience * job.step_s.value_or(0));
  const auto is_recent = [&](std::int64_t t_ns) {
    return t_ns != 0 && static_cast<double>(now_ns - t_ns) * kSecondsPerNs < patience_s;
  };
  if (is_recent(step_ended_ns_)) return report::LiveState::kTraining;
  if (is_recent(saved_ns_)) return report::LiveState::kCheckpoint;
  if (is_recent(progress_ns_)) return report::LiveState::kLoading;
  return report::LiveState::kQuiet;
}

report::LiveJob RecentJob::look(std::int64_t now_ns, std::int64_t curve_s) const {
  report::LiveJob job;
  job.run_dir = run_.run_dir;
  job.command = fmt::format("{}", fmt::join(run_.command, " "));
  const std::int64_t until_ns = ended_ns_ != 0 ? ended_ns_ : now_ns;
  job.elapsed_s = static_cast<double>(until_ns - run_.started_ns) * kSecondsPerNs;
  job.emulated = run_.is_emulated;
  job.steps = steps_;
  const std::int64_t last = second_of(until_ns);
  add_training(step_ended_ns_ == 0 ? last : second_of(step_ended_ns_), job);
  job.quiet_s =
      progress_ns_ == 0
          ? job.elapsed_s
          : static_cast<double>(std::max<std::int64_t>(0, until_ns - progress_ns_)) * kSecondsPerNs;
  job.cpu_cores = mean_now(last, [](const Second& second) { return second.cpu_cores; }).value();
  job.cores_allowed = latest("job.effective_cores", "job");
  job.resident_bytes = latest("job.resident_bytes", "job");
  job.waiting_curve = curve(last, curve_s, [](const Second& second) {
    std::int64_t trained_ns = 0;
    for (const auto& [pid, ns] : second.trained_ns) trained_ns += ns;
    if (trained_ns == 0) return kNothing;
    return std::min(1.0, static_cast<double>(second.waiting_ns) / static_cast<double>(trained_ns));
  });
  const double cores = job.cores_allowed.value_or(1);
  job.cpu_curve = curve(last, curve_s, [cores](const Second& second) {
    return second.cpu_cores.value().value_or(kNothing) / cores;
  });
  add_gpus(last, curve_s, job);
  job.state = state(now_ns, job);
  return job;
}

Reading<bool> RecentJob::is_idle(std::int64_t now_ns, std::int64_t idle_s) const {
  if (ended_ns_ != 0 || steps_ == 0) return false;
  if (now_ns - progress_ns_ < idle_s * kSecondNs) return false;
  Mean utilization;
  for (auto at = seconds_.lower_bound(second_of(now_ns) - idle_s); at != seconds_.end(); ++at) {
    for (const auto& [gpu, mean] : at->second.gpu_utilization) utilization += mean;
  }
  const Reading<double> used = utilization.value();
  if (!used) return used.why_absent();
  return *used < kIdleUtilization;
}

}  // namespace unstarve::sink
