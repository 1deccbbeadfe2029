#include "compare/run/measured_run.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "diagnose/partition/cause.h"
#include "trace/run_reader.h"
#include "trace/run_series.h"

namespace unstarve::compare {

namespace {

std::map<std::string, double> parts_of(const diagnose::Partition& partition) {
  return {{"gpu_compute", partition.gpu_compute},
          {"exposed_communication", partition.exposed_communication},
          {"exposed_copy", partition.exposed_copy},
          {"input_wait", partition.input_wait},
          {"sync", partition.sync},
          {"launch", partition.launch},
          {"kernel_wait", partition.kernel_wait},
          {"other", partition.other}};
}

std::map<std::string, double> parts_of(const diagnose::ThreadTime& time) {
  return {{"input_wait", time.input_wait},
          {"sync", time.sync.value_or(0)},
          {"own_work", time.own_work}};
}

/// The most of a metric's samples within the training.
std::optional<double> most_of(const trace::RunReader& run, std::string_view metric,
                              std::string_view subject, const trace::Interval& when) {
  std::optional<double> most;
  for (const trace::SeriesPoint& point : trace::points_in(run, metric, subject, when)) {
    if (point.value) most = std::max(most.value_or(*point.value), *point.value);
  }
  return most;
}

/// A counter's growth within the training.
std::optional<double> growth_of(const trace::RunReader& run, std::string_view metric,
                                std::string_view subject, const trace::Interval& when) {
  std::optional<double> first, last;
  for (const trace::SeriesPoint& point : trace::points_in(run, metric, subject, when)) {
    if (!point.value || point.t_ns < when.start_ns) continue;
    if (!first) first = *point.value;
    last = *point.value;
  }
  if (!first || *last <= *first) return std::nullopt;
  return *last - *first;
}

std::map<std::string, double> whole_of(const examine::Examination& examined,
                                       const trace::RunReader& run) {
  std::map<std::string, double> whole;
  const auto put = [&](const char* id, const std::optional<double>& value) {
    if (value) whole.emplace(id, *value);
  };
  const std::string gpu = examined.gpu.subject();
  const trace::Interval& when = examined.observed;
  put("host_memory_bytes", most_of(run, "job.resident_bytes", "job", when));
  put("gpu_memory_bytes", most_of(run, "gpu.memory_used_bytes", gpu, when));
  const double steps = static_cast<double>(examined.measured->steps_s.size());
  if (const auto energy_j = growth_of(run, "gpu.energy_j", gpu, when)) {
    whole.emplace("gpu_j_per_step", *energy_j / steps);
  }
  return whole;
}

const diagnose::Finding* finding_of(const diagnose::Diagnosis& diagnosis, std::string_view cause) {
  const auto found =
      std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [&](const diagnose::Finding& finding) { return finding.cause == cause; });
  return found == diagnosis.findings.end() ? nullptr : &*found;
}

}  // namespace

std::string name_of(const std::string& path) {
  const std::filesystem::path file = std::filesystem::path(path).lexically_normal();
  return (file.has_filename() ? file : file.parent_path()).filename().string();
}

Result<MeasuredRun> measured_run(const examine::Examination& examined, const std::string& path) {
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  MeasuredRun run;
  run.name = name_of(path);
  run.path = path;
  run.blocks = step_blocks(job, examined.job_cpu);
  constexpr double kLeastSteps = 2;
  if (sum_of(run.blocks).of(Amount::kSteps) < kLeastSteps) {
    return fail(ErrorCode::kNotSupported,
                "{} has {} steps behind the warm-up and without an evaluation; a comparison needs "
                "two: let the job run longer",
                path, sum_of(run.blocks).of(Amount::kSteps));
  }
  const diagnose::Diagnosis& diagnosis = examined.diagnosis;
  run.parts_of_gpu = diagnosis.partition.has_value();
  if (diagnosis.partition) {
    run.parts = parts_of(*diagnosis.partition);
  } else if (diagnosis.thread_time) {
    run.parts = parts_of(*diagnosis.thread_time);
  }
  run.usage = examined.usage;
  run.signals = diagnosis.signals;
  run.findings = diagnosis.findings;
  run.events = diagnosis.events;
  run.own_code = diagnosis.own_code;
  if (const diagnose::Finding* const waits = finding_of(diagnosis, "input_wait")) {
    run.fetch_code = waits->code;
  }
  if (const diagnose::Finding* const blocks = finding_of(diagnosis, "sync")) {
    run.sync_code = blocks->code;
  }
  run.emulated = std::any_of(diagnosis.devices.begin(), diagnosis.devices.end(),
                             [](const auto& device) { return device.info.emulated; });
  if (examined.run_dir.empty()) {
    run.settings = settings_of(examined, nullptr);
    return run;
  }
  const auto reader = trace::RunReader::open(examined.run_dir);
  if (!reader) return forward_error(reader);
  if (examined.measured) run.whole = whole_of(examined, *reader);
  run.settings = settings_of(examined, &*reader);
  return run;
}

}  // namespace unstarve::compare
