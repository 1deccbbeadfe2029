#include "report/run_page.h"

#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "advise/job_facts.h"
#include "base/shell_word.h"
#include "base/units.h"
#include "examine/history/trial_dirs.h"
#include "report/headline.h"
#include "report/tracks.h"
#include "report/tried/trial_words.h"
#include "report/words/shown_paths.h"
#include "report/words/words.h"
#include "trace/json/json_text.h"
#include "trace/run_reader.h"
#include "trace/run_series.h"
#include "trace/text/characters.h"

namespace unstarve::report {

namespace {

// Of a command that is shown: a few lines of a terminal.
constexpr std::size_t kCommandBytesMax = 400;

/// The command as it was typed; of a long one the beginning, since it is only shown.
std::string shown_command(const std::string& json_array) {
  const nlohmann::json words = trace::parse_json(json_array);
  std::string line;
  if (!words.is_array()) return line;
  for (const nlohmann::json& word : words) {
    if (!word.is_string()) continue;
    if (!line.empty()) line += ' ';
    line += shell_word(word.get<std::string>());
  }
  if (line.size() <= kCommandBytesMax) return line;
  return fmt::format("{}... ({} bytes in all)", trace::first_bytes(line, kCommandBytesMax),
                     line.size());
}

std::string shown_time(std::int64_t wall_ns) {
  const std::time_t seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

/// What was not kept of a run, and what that means for its shares.
std::string losses(const trace::RunReader& run) {
  constexpr std::int64_t kMillion = 1'000'000;
  std::string text;
  if (const std::int64_t events = run.number("events_lost"); events > 0) {
    text = fmt::format(
        "{} GPU events were not kept, for want of room: the GPU's shares are of the time before "
        "that.",
        events < kMillion ? std::to_string(events)
                          : fmt::format("{:.1f} million", static_cast<double>(events) / kMillion));
  }
  if (const std::int64_t rows = run.number("rows_lost"); rows > 0) {
    text += fmt::format("{}{} rows could not be written: steps and waits among them are missing.",
                        text.empty() ? "" : " ", rows);
  }
  return text;
}

/// The run's key `scheduler`.
std::vector<Fact> scheduler_facts(const trace::RunReader& run) {
  const nlohmann::json said = trace::parse_json(run.info("scheduler"));
  std::vector<Fact> facts;
  if (!said.is_object()) return facts;
  for (const auto& [name, value] : said.items()) {
    if (value.is_string()) facts.push_back({name, value.get<std::string>()});
  }
  return facts;
}

/// The run's key `mig`, which the sampler writes.
std::string mig_sentences(const trace::RunReader& run) {
  const nlohmann::json gpus = trace::parse_json(run.info("mig"));
  std::string text;
  if (!gpus.is_array()) return text;
  for (const nlohmann::json& gpu : gpus) {
    if (!gpu.is_object() || !gpu.contains("gpu") || !gpu["gpu"].is_number_integer()) continue;
    const auto word = [&gpu](const char* key) {
      const auto found = gpu.find(key);
      return found != gpu.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const std::string instance = word("name").empty() ? word("uuid") : word("name");
    if (!text.empty()) text += ' ';
    text += fmt::format(
        "GPU {} is in MIG mode: NVML gives no utilisation of its instances (records of CUPTI and "
        "torch.profiler do); memory is that of {}.",
        gpu["gpu"].get<std::int64_t>(),
        instance.empty() ? "the whole GPU, since it is not known which instance the job has"
                         : instance);
  }
  return text;
}

/// Until then it imports, and makes its data set: nothing of that is seen.
Reading<double> first_asked_s(const trace::Timeline& timeline, const trace::RunReader& run) {
  std::int64_t first_ns = 0;
  for (const trace::LoaderConfig& loader : timeline.loaders) {
    if (loader.made_ns > 0 && (first_ns == 0 || loader.made_ns < first_ns))
      first_ns = loader.made_ns;
  }
  if (first_ns == 0) return WhyAbsent::kNotObserved;
  return static_cast<double>(first_ns - run.number("started_ns")) * kSecondsPerNs;
}

RunFacts run_facts(const trace::RunReader& run, const diagnose::Signals& signals) {
  RunFacts facts;
  facts.command = shown_command(run.info("command"));
  facts.started = shown_time(run.number("started_wall_ns"));
  facts.host = run.info("host");
  if (signals.effective_cpus)
    facts.host += fmt::format(", {:.0f} CPU cores", *signals.effective_cpus);
  // Profiles of emulated GPUs have the word in their names; it is said beside them.
  constexpr std::string_view kEmulated = "Emulated ";
  facts.device = run.info("device_name");
  if (facts.device.compare(0, kEmulated.size(), kEmulated) == 0) {
    facts.device.erase(0, kEmulated.size());
  }
  facts.emulated = run.info("device_kind") == "emulated";
  facts.emulated_durations = run.info("emulated_durations");
  const std::int64_t ended_ns = run.number("ended_ns");
  if (ended_ns > 0) {
    facts.duration_s = static_cast<double>(ended_ns - run.number("started_ns")) * kSecondsPerNs;
  }
  facts.attached = !run.info("attached_pid").empty();
  if (ended_ns > 0 && !facts.attached) facts.exit_code = run.number("exit_code");
  facts.stopped_by_us = !run.info("stopped_by").empty();
  if (const std::int64_t number = run.number("exit_signal"); number > 0) {
    facts.exit_signal = signal_name(number);
  }
  if (const auto processes = run.processes(); processes && job_failed(facts)) {
    facts.error = trace::first_error(*processes);
  }
  facts.mig = mig_sentences(run);
  facts.losses = losses(run);
  facts.scheduler = scheduler_facts(run);
  facts.versions.push_back({"unstarve", run.info("unstarve_version")});
  return facts;
}

std::vector<Fact> watching_cost(const trace::RunReader& run, const trace::Interval& when) {
  std::vector<Fact> cost;
  if (const auto cores = trace::mean_in(run, "unstarve.cpu_cores", "unstarve", when)) {
    cost.push_back({"CPU", fmt::format("{:.4f} cores for the sampler", *cores)});
  }
  if (const auto late = trace::mean_in(run, "unstarve.tick_late_ns_max", "unstarve", when)) {
    cost.push_back({"lateness", fmt::format("{:.2f} ms, mean of each second's worst",
                                            *late * kSecondsPerNs * 1e3)});
  }
  if (const auto bytes = trace::mean_in(run, "unstarve.resident_bytes", "unstarve", when)) {
    cost.push_back({"memory", fmt::format("{:.0f} MB", *bytes / 1e6)});
  }
  return cost;
}

/// GPU utilisation in seconds since the run began; gaps where it is absent.
Series utilization(const trace::RunReader& run, const std::string& label,
                   const trace::JobGpu& gpu) {
  Series curve;
  curve.label = label;
  const auto series = run.series("gpu.utilization_ratio", gpu.subject());
  if (!series) return curve;
  curve.training_from_s = training_from_s(run);
  curve.training_until_s = training_until_s(run);
  const std::int64_t started_ns = run.number("started_ns");
  for (const trace::SeriesPoint& point : *series) {
    curve.t_s.push_back(static_cast<double>(point.t_ns - started_ns) * kSecondsPerNs);
    curve.value.push_back(point.value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return curve;
}

void add_curve(const trace::RunReader& run, const std::string& label, const trace::JobGpu& gpu,
               Report& report) {
  Series curve = utilization(run, label, gpu);
  if (!curve.t_s.empty()) report.utilization.push_back(std::move(curve));
}

/// The change that a report speaks of: the best that was kept, else the one that is advised.
std::optional<cost::Change> named_change(const Report& report) {
  if (const Verification* const tried = best_verified(report.verification)) {
    if (tried->outcome != trial::Outcome::kKept) return std::nullopt;
    const double total = total_speedup(report.verification, *tried);
    const double below = total / tried->measured.speedup;  // of what it was tried on top of
    return cost::Change{
        tried->remedy, {total, tried->measured.low * below, tried->measured.high * below}, true};
  }
  const std::optional<advise::Remedy>& next = report.advice.next_remedy;
  if (!next || !next->predicted) return std::nullopt;
  return cost::Change{next->id, *next->predicted, false};
}

/// The folder that "src/train.py:41" is named from, where the file it lies in is known.
std::string folder_of(const advise::JobFacts& job) {
  const std::string_view place = job.loader_place;
  const std::string tail = "/" + std::string(place.substr(0, place.rfind(':')));
  const std::string& file = job.loader_file;
  return file.size() > tail.size() && file.ends_with(tail)
             ? file.substr(0, file.size() - tail.size())
             : std::string();
}

/// Of a script that does not lie below the folder it was started from: its places are absolute.
std::string script_folder_of(const Report& report, const advise::JobFacts& job) {
  std::vector<std::string> places = {job.loader_place, job.iterated_at, report.facts.error.place};
  const auto add = [&places](const diagnose::CodeTime& time) {
    for (const diagnose::CodeShare& code : time.parts) places.push_back(code.place);
  };
  add(report.diagnosis.own_code);
  for (const diagnose::Finding& finding : report.diagnosis.findings) add(finding.code);
  return common_folder(places);
}

/// What is drawn over time but the curves.
void add_times(const examine::Examination& examined, std::int64_t started_ns, Report& report) {
  report.training_from_s = training_from_s(examined, started_ns);
  report.tracks = tracks_of(examined, started_ns);
  report.shares = diagnose::partition_over_time(examined.recording->partitioned);
  report.shares.span.start_ns -= started_ns;
  report.shares.span.end_ns -= started_ns;
}

/// Of a trace, whose clock begins anywhere: when the first step or operation of a device began.
std::int64_t begin_of(const trace::Timeline& timeline) {
  if (timeline.steps.empty() && timeline.device_ops.empty()) return 0;
  if (timeline.device_ops.empty()) return timeline.steps.front().when.start_ns;
  if (timeline.steps.empty()) return timeline.device_ops.front().start_ns;
  return std::min(timeline.steps.front().when.start_ns, timeline.device_ops.front().start_ns);
}

/// What is known of a trace that somebody else recorded.
RunFacts trace_facts(const trace::Timeline& timeline) {
  RunFacts facts;
  facts.command = timeline.file;
  if (!timeline.devices.empty()) facts.device = timeline.devices.front().name;
  return facts;
}

}  // namespace

Report make_report(const examine::Examination& examined) {
  Report report;
  report.diagnosis = examined.diagnosis;
  report.advice = examined.advice;
  if (examined.run_dir.empty()) {
    report.facts = trace_facts(examined.recording->timeline);
    add_times(examined, begin_of(examined.recording->timeline), report);
    return report;
  }
  const auto run = trace::RunReader::open(examined.run_dir);
  if (!run) return report;  // it was removed meanwhile: what is known of it is shown
  report.position = examined.position;
  report.facts = run_facts(*run, examined.diagnosis.signals);
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  const job::Rank& rank = job.job.ranks()[job.rank_index()];
  report.facts.steps = static_cast<std::int64_t>(rank.steps.size()) + rank.thinned.rows;
  if (!report.facts.attached) {
    report.facts.first_asked_s = first_asked_s(examined.recording->timeline, *run);
  }
  const trace::SlotPlan& thinning = run->thinning();
  report.facts.kept = {
      std::int64_t{1} << thinning.level, static_cast<double>(thinning.slot_ns) * kSecondsPerNs,
      static_cast<std::int64_t>(rank.steps.size()), examined.recording->timeline.windows_left_out};
  report.facts.framework = examined.framework;
  report.facts.folder = folder_of(examined.job);
  report.facts.script_folder = script_folder_of(report, examined.job);
  report.facts.loaders = advise::which_loaders(examined.job);
  if (!report.diagnosis.partition) report.facts.no_steps = examined.no_steps;
  add_times(examined, run->number("started_ns"), report);
  report.own_cost = watching_cost(*run, examined.observed);
  add_curve(*run, examine::kBefore, examined.gpu, report);
  if (!report.utilization.empty()) {
    report.utilization.front().training_from_s = report.training_from_s;
  }
  return report;
}

void add_cost(const examine::Examination& examined, const cost::Rates& rates, Report& report) {
  report.cost = cost::cost_of(examined.usage, rates, named_change(report));
}

Report make_report(const trial::TriedJob& job) {
  Report report = make_report(job.before);
  report.verification = job.verification;
  for (const Verification& tried : job.verification) {
    if (const auto run = trace::RunReader::open(tried.run_dir)) {
      add_curve(*run, tried.remedy, job.before.gpu, report);
    }
  }
  return report;
}

}  // namespace unstarve::report
