#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/io/write.h"
#include "base/result.h"
#include "base/units.h"
#include "report/words/utf8.h"
#include "sink/sink.h"
#include "sink/wire/gpu_subject.h"

namespace unstarve::sink {

namespace {

/// A job has at most so many series, however many GPUs it has: a fleet's store pays for each.
constexpr std::size_t kSeriesMax = 40;
constexpr std::size_t kFindingsMax = 3;

/// How a metric of ours (docs/metrics.md) is called by Prometheus's conventions: base units, and
/// `_total` on what only grows.
struct Exposed {
  std::string_view metric;
  std::string_view name;
  std::string_view type;
  std::string_view help;
};

constexpr std::array<Exposed, 6> kOfTheJob = {
    {{"job.cpu_cores", "unstarve_job_cpu_cores", "gauge", "CPUs that the job's processes use."},
     {"job.resident_bytes", "unstarve_job_resident_bytes", "gauge",
      "Memory of the job's processes; shared pages count once for each."},
     {"cgroup.throttled_cores", "unstarve_cgroup_throttled_cores", "gauge",
      "CPUs that the quota of the job's control group held back."},
     {"cgroup.memory_used_bytes", "unstarve_cgroup_memory_used_bytes", "gauge",
      "Memory of the job's control group, the page cache included."},
     {"unstarve.cpu_cores", "unstarve_watching_cpu_cores", "gauge", "CPUs that watching takes."},
     {"unstarve.rows_lost", "unstarve_rows_lost_total", "counter",
      "Rows that watching could not store."}}};

/// The first ones first, where a job has so many GPUs that not all find room.
constexpr std::array<Exposed, 8> kOfAGpu = {
    {{"gpu.utilization_ratio", "unstarve_gpu_utilization_ratio", "gauge",
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
      "Errors (XID) that the driver reported since the run began."}}};

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

/// The text that Prometheus reads (format 0.0.4), out of what a run shows so far. Whatever was not
/// observed has no series: it is never 0.
class Exposition {
 public:
  void begin(const RunStart& run) {
    run_ = label_value(run.run_id);
    start_ = run;
    info_ = fmt::format(R"(host="{}",command="{}")", label_value(run.host),
                        label_value(fmt::format("{}", fmt::join(run.command, " "))));
    for (const char* const name : {"scheduler", "job", "step", "user", "account"}) {
      const auto said = run.scheduler.find(name);
      if (said == run.scheduler.end()) continue;
      info_ += fmt::format(R"(,{}="{}")", name, label_value(said->second));
    }
  }

  void note(const Sample& sample) {
    latest_[{sample.metric.name, sample.metric.subject}] = sample.value;
  }

  void note(const trace::StepRow& step) {
    ++steps_;
    step_ns_ += step.when.duration_ns();
    last_step_ns_ = std::max(last_step_ns_, step.when.end_ns);
    if (step.samples) samples_ = samples_.value_or(0) + *step.samples;
  }

  void note(const trace::WaitRow& wait) { waited_ns_ += wait.when.duration_ns(); }

  void note(const RunEnd& end) { end_ = end; }

  void note(const report::Report& verdict) {
    for (const diagnose::Finding& finding : verdict.diagnosis.findings) {
      if (findings_.size() == kFindingsMax) break;
      findings_.push_back(
          {fmt::format(R"(cause="{}",detail="{}")", finding.cause, finding.detail), finding.share});
    }
  }

  std::string text() {
    text_.clear();
    series_ = 0;
    add_run();
    for (const Exposed& one : kOfTheJob) {
      const std::string_view subject = one.metric.substr(0, one.metric.find('.'));
      const auto value = value_of(one, subject);
      if (value) add(one.name, one.type, one.help, {{"", *value}});
    }
    if (!findings_.empty()) {
      add("unstarve_finding_share_ratio", "gauge",
          "Share of the time of a training step that a cause takes, once the run has ended.",
          findings_);
    }
    add_gpus();
    return text_;
  }

 private:
  using Series = std::vector<std::pair<std::string, double>>;  // labels beside `run`, value

  void add(std::string_view name, std::string_view type, std::string_view help,
           const Series& series) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    for (const auto& [labels, value] : series) {
      text_ += fmt::format("{}{{run=\"{}\"{}{}}} {}\n", name, run_, labels.empty() ? "" : ",",
                           labels, value);
    }
    series_ += series.size();
  }

  void add_run() {
    add("unstarve_run_info", "gauge", "What the run is; always 1.", {{info_, 1}});
    add("unstarve_run_start_timestamp_seconds", "gauge", "When the run began.",
        {{"", wall_s(start_.started_ns)}});
    if (end_) {
      add("unstarve_run_end_timestamp_seconds", "gauge", "When the job ended.",
          {{"", wall_s(end_->ended_ns)}});
      if (end_->exit_code) {
        add("unstarve_run_exit_code", "gauge", "The job's exit code.",
            {{"", static_cast<double>(*end_->exit_code)}});
      }
    }
    add("unstarve_steps_total", "counter", "Training steps of all processes.",
        {{"", static_cast<double>(steps_)}});
    add("unstarve_input_wait_seconds_total", "counter",
        "Time that training threads were inside their data loaders.",
        {{"", static_cast<double>(waited_ns_) * kSecondsPerNs}});
    if (steps_ == 0) return;
    add("unstarve_step_seconds_total", "counter", "Time of these steps.",
        {{"", static_cast<double>(step_ns_) * kSecondsPerNs}});
    add("unstarve_last_step_timestamp_seconds", "gauge", "When the latest step ended.",
        {{"", wall_s(last_step_ns_)}});
    if (samples_) {
      add("unstarve_samples_total", "counter", "Samples in these steps.",
          {{"", static_cast<double>(*samples_)}});
    }
  }

  /// A metric of all GPUs, or of none: half of them would be a puzzle.
  void add_gpus() {
    for (const Exposed& one : kOfAGpu) {
      Series series;
      for (const auto& [key, value] : latest_) {
        const auto gpu = gpu_of(key.second);
        if (key.first != one.metric || !gpu || !is_shown(one, value)) continue;
        std::string labels = fmt::format(R"(gpu="{}")", *gpu);
        if (const std::string uuid = uuid_of(start_, *gpu); !uuid.empty()) {
          labels += fmt::format(R"(,uuid="{}")", label_value(uuid));
        }
        series.emplace_back(std::move(labels), *value);
      }
      if (series.empty()) continue;
      if (series_ + series.size() > kSeriesMax) {
        text_ +=
            fmt::format("# {} is left out: a job has at most {} series\n", one.name, kSeriesMax);
        continue;
      }
      add(one.name, one.type, one.help, series);
    }
  }

  std::optional<double> value_of(const Exposed& exposed, std::string_view subject) const {
    const auto known = latest_.find({std::string(exposed.metric), std::string(subject)});
    if (known == latest_.end() || !is_shown(exposed, known->second)) return std::nullopt;
    return *known->second;
  }

  /// What a job used last says nothing once it has ended; what it used in all does.
  bool is_shown(const Exposed& exposed, const Reading<double>& value) const {
    return value && std::isfinite(*value) && (!end_ || exposed.type == "counter");
  }

  double wall_s(std::int64_t monotonic_ns) const {
    return static_cast<double>(start_.started_wall_ns) * kSecondsPerNs +
           static_cast<double>(monotonic_ns - start_.started_ns) * kSecondsPerNs;
  }

  std::string run_;
  std::string info_;
  RunStart start_;
  std::map<std::pair<std::string, std::string>, Reading<double>> latest_;  // metric, subject
  std::int64_t steps_ = 0;
  std::int64_t step_ns_ = 0;
  std::int64_t last_step_ns_ = 0;
  std::optional<std::int64_t> samples_;
  std::int64_t waited_ns_ = 0;
  std::optional<RunEnd> end_;
  Series findings_;
  std::string text_;
  std::size_t series_ = 0;
};

/// A file for the textfile collector of Prometheus's node exporter (docs/formats/prometheus.md). It
/// is replaced at once with each portion; standard output gets one text, at the end.
class PrometheusFile final : public Sink {
 public:
  explicit PrometheusFile(std::string target) : target_(std::move(target)) {}

  Status begins(const RunStart& run) override {
    exposition_.begin(run);
    return {};
  }
  Status takes(const Sample& sample) override {
    exposition_.note(sample);
    return {};
  }
  Status takes(const trace::StepRow& step) override {
    exposition_.note(step);
    return {};
  }
  Status takes(const trace::WaitRow& wait) override {
    exposition_.note(wait);
    return {};
  }
  Status ends(const RunEnd& end) override {
    exposition_.note(end);
    return {};
  }
  bool wants_verdict() const override { return true; }
  Status takes(const report::Report& verdict) override {
    exposition_.note(verdict);
    return {};
  }
  Status flush() override {
    return target_ == "-" ? Status{} : io::replace_file(target_, exposition_.text());
  }
  Status finish() override {
    constexpr int kStandardOutput = 1;
    return target_ == "-" ? io::write_all(kStandardOutput, exposition_.text()) : flush();
  }

 private:
  std::string target_;
  Exposition exposition_;
};

Result<std::unique_ptr<Sink>> open_prometheus(const std::string& target) {
  if (target != "-") {
    const Status replaceable = io::check_replaceable(target);
    if (!replaceable) return forward_error(replaceable);
  }
  return std::make_unique<PrometheusFile>(target);
}

}  // namespace

SinkKind prometheus_sink();
SinkKind prometheus_sink() {
  return {"prometheus", "a text for node exporter's textfile collector, ending in .prom",
          &open_prometheus};
}

}  // namespace unstarve::sink
