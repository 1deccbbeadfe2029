#include "sink/exposition/exposition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/words/utf8.h"
#include "sink/wire/gpu_subject.h"

namespace unstarve::sink {

namespace {

/// A job has at most so many series, however many GPUs it has: a fleet's store pays for each.
constexpr std::size_t kSeriesMax = 40;
constexpr std::size_t kFindingsMax = 3;

/// A text as the value of a label.
std::string label_value(std::string_view text) {
  std::string value;
  for (std::size_t at = 0; at < text.size();) {
    const report::CodePoint point = report::decode_at(text, at);
    const std::string_view bytes = text.substr(at, point.bytes);
    at += point.bytes;
    if (!point.valid || report::is_control(point.value)) {
      value += report::kReplacement;
    } else if (bytes == "\\" || bytes == "\"") {
      value += '\\';
      value += bytes;
    } else {
      value += bytes;
    }
  }
  return value;
}

}  // namespace

/// By Prometheus's conventions: base units, and `_total` on what only grows (docs/metrics.md).
struct Exposition::Exposed {
  std::string_view metric;
  std::string_view name;
  std::string_view type;
  std::string_view help;
};

const Exposition::Exposed Exposition::kOfTheJob[] = {
    {"job.cpu_cores", "unstarve_job_cpu_cores", "gauge", "CPUs that the job's processes use."},
    {"job.resident_bytes", "unstarve_job_resident_bytes", "gauge",
     "Memory of the job's processes; shared pages count once for each."},
    {"cgroup.throttled_cores", "unstarve_cgroup_throttled_cores", "gauge",
     "CPUs that the quota of the job's control group held back."},
    {"cgroup.memory_used_bytes", "unstarve_cgroup_memory_used_bytes", "gauge",
     "Memory of the job's control group, the page cache included."},
    {"unstarve.cpu_cores", "unstarve_watching_cpu_cores", "gauge", "CPUs that watching takes."},
    {"unstarve.rows_lost", "unstarve_rows_lost_total", "counter",
     "Rows that watching could not store."}};

/// The first ones first, where a job has so many GPUs that not all find room.
const Exposition::Exposed Exposition::kOfAGpu[] = {
    {"gpu.utilization_ratio", "unstarve_gpu_utilization_ratio", "gauge",
     "Share of time with a kernel on the GPU, as its driver says."},
    {"gpu.energy_j", "unstarve_gpu_energy_joules_total", "counter",
     "Energy of the GPU since its driver was loaded."},
    {"gpu.memory_used_bytes", "unstarve_gpu_memory_used_bytes", "gauge",
     "Memory of the GPU in use by all processes."},
    {"gpu.sm_activity_ratio", "unstarve_gpu_sm_activity_ratio", "gauge",
     "Share of the multiprocessors that had work."},
    {"gpu.power_w", "unstarve_gpu_power_watts", "gauge", "Power of the GPU."},
    {"gpu.tensor_activity_ratio", "unstarve_gpu_tensor_activity_ratio", "gauge",
     "Share of time in which tensor cores worked."},
    {"gpu.temperature_c", "unstarve_gpu_temperature_celsius", "gauge", "Temperature."},
    {"gpu.xid_errors", "unstarve_gpu_xid_errors_total", "counter",
     "Errors (XID) that the driver reported since the run began."}};

Status Exposition::begins(const RunStart& run) {
  has_begun_ = true;
  run_ = label_value(run.run_id);
  start_ = run;
  info_ = fmt::format(R"(host="{}",command="{}")", label_value(run.host),
                      label_value(fmt::format("{}", fmt::join(run.command, " "))));
  for (const char* const name : {"scheduler", "job", "step", "user", "account"}) {
    const auto said = run.scheduler.find(name);
    if (said == run.scheduler.end()) continue;
    info_ += fmt::format(R"(,{}="{}")", name, label_value(said->second));
  }
  return {};
}

Status Exposition::takes(const Sample& sample) {
  latest_[{sample.metric.name, sample.metric.subject}] = sample.value;
  return {};
}

Status Exposition::takes(const trace::StepRow& step) {
  ++steps_;
  step_ns_ += step.when.duration_ns();
  last_step_ns_ = std::max(last_step_ns_, step.when.end_ns);
  if (step.samples) samples_ = samples_.value_or(0) + *step.samples;
  return {};
}

Status Exposition::takes(const trace::WaitRow& wait) {
  waited_ns_ += wait.when.duration_ns();
  return {};
}

Status Exposition::ends(const RunEnd& end) {
  end_ = end;
  return {};
}

Status Exposition::takes(const report::Report& verdict) {
  for (const diagnose::Finding& finding : verdict.diagnosis.findings) {
    if (findings_.size() == kFindingsMax) break;
    findings_.emplace_back(
        labels(fmt::format(R"(cause="{}",detail="{}")", finding.cause, finding.detail)),
        finding.share);
  }
  return {};
}

std::vector<Family> Exposition::families() const {
  std::vector<Family> families;
  if (!has_begun_) return families;  // nothing of it was stored by now
  add_run(families);
  add_job(families);
  add_gpus(families);
  return families;
}

std::string Exposition::labels(std::string_view others) const {
  return fmt::format("run=\"{}\"{}{}", run_, others.empty() ? "" : ",", others);
}

void Exposition::add_run(std::vector<Family>& families) const {
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       double value) {
    families.push_back({name, type, help, {{labels(""), value}}});
  };
  families.push_back(
      {"unstarve_run_info", "gauge", "What the run is; always 1.", {{labels(info_), 1}}});
  add("unstarve_run_start_timestamp_seconds", "gauge", "When the run began.",
      wall_s(start_.started_ns));
  if (end_) {
    add("unstarve_run_end_timestamp_seconds", "gauge", "When the job ended.",
        wall_s(end_->ended_ns));
    if (end_->exit_code) {
      add("unstarve_run_exit_code", "gauge", "The job's exit code.",
          static_cast<double>(*end_->exit_code));
    }
  }
  add("unstarve_steps_total", "counter", "Training steps of all processes.",
      static_cast<double>(steps_));
  add("unstarve_input_wait_seconds_total", "counter",
      "Time that training threads were inside their data loaders.",
      static_cast<double>(waited_ns_) * kSecondsPerNs);
  if (steps_ == 0) return;
  add("unstarve_step_seconds_total", "counter", "Time of these steps.",
      static_cast<double>(step_ns_) * kSecondsPerNs);
  add("unstarve_last_step_timestamp_seconds", "gauge", "When the latest step ended.",
      wall_s(last_step_ns_));
  if (samples_) {
    add("unstarve_samples_total", "counter", "Samples in these steps.",
        static_cast<double>(*samples_));
  }
}

void Exposition::add_job(std::vector<Family>& families) const {
  for (const Exposed& one : kOfTheJob) {
    const std::string subject(one.metric.substr(0, one.metric.find('.')));
    const auto known = latest_.find({std::string(one.metric), subject});
    if (known == latest_.end() || !is_shown(one, known->second)) continue;
    families.push_back({one.name, one.type, one.help, {{labels(""), *known->second}}});
  }
  if (findings_.empty()) return;
  families.push_back({"unstarve_finding_share_ratio", "gauge",
                      "Share of the time of a training step that a cause takes, once the run has "
                      "ended.",
                      findings_});
}

/// A metric of all GPUs, or of none: half of them would be a puzzle.
void Exposition::add_gpus(std::vector<Family>& families) const {
  std::size_t total = 0;
  for (const Family& family : families) total += family.series.size();
  for (const Exposed& one : kOfAGpu) {
    Family family = {one.name, one.type, one.help, {}};
    for (const auto& [key, value] : latest_) {
      const auto gpu = gpu_of(key.second);
      if (key.first != one.metric || !gpu || !is_shown(one, value)) continue;
      std::string others = fmt::format(R"(gpu="{}")", *gpu);
      if (const std::string uuid = uuid_of(start_, *gpu); !uuid.empty()) {
        others += fmt::format(R"(,uuid="{}")", label_value(uuid));
      }
      family.series.emplace_back(labels(others), *value);
    }
    if (family.series.empty()) continue;
    if (total + family.series.size() > kSeriesMax) {
      family.series.clear();
    } else {
      total += family.series.size();
    }
    families.push_back(std::move(family));
  }
}

/// What a job used last says nothing once it has ended; what it used in all does.
bool Exposition::is_shown(const Exposed& exposed, const Reading<double>& value) const {
  return value && std::isfinite(*value) && (!end_ || exposed.type == "counter");
}

double Exposition::wall_s(std::int64_t monotonic_ns) const {
  return static_cast<double>(start_.started_wall_ns) * kSecondsPerNs +
         static_cast<double>(monotonic_ns - start_.started_ns) * kSecondsPerNs;
}

std::string exposition_text(std::span<const Family> families) {
  std::vector<std::string_view> names;  // in the order in which they are met
  for (const Family& family : families) {
    if (std::find(names.begin(), names.end(), family.name) == names.end()) {
      names.push_back(family.name);
    }
  }
  std::string text;
  for (const std::string_view name : names) {
    bool has_head = false;
    for (const Family& family : families) {
      if (family.name != name) continue;
      if (family.series.empty()) {
        text += fmt::format("# {} is left out: a job has at most {} series\n", name, kSeriesMax);
        continue;
      }
      if (!has_head) {
        text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, family.type);
        has_head = true;
      }
      for (const auto& [labels, value] : family.series) {
        text += fmt::format("{}{{{}}} {}\n", name, labels, value);
      }
    }
  }
  return text;
}

}  // namespace unstarve::sink
