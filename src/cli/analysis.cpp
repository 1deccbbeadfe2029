#include "cli/analysis.h"

#include <charconv>
#include <ctime>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/shell_word.h"
#include "cli/recorded/run_signals.h"
#include "cli/remedies.h"
#include "cli/terminal.h"
#include "observe/import/kineto.h"
#include "report/text/live.h"
#include "trace/load_run.h"

namespace unstarve::cli {

namespace {

constexpr double kSecondsPerNs = 1e-9;
constexpr double kMicrosecondsPerSecond = 1e6;
// Of a command that is shown: a few lines of a terminal.
constexpr std::size_t kCommandBytesMax = 400;

std::int64_t integer(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The command as it was typed; of a long one the beginning, since it is only shown.
std::string shown_command(const std::string& json_array) {
  const nlohmann::json words = nlohmann::json::parse(json_array, nullptr, false);
  std::string line;
  if (!words.is_array()) return line;
  for (const nlohmann::json& word : words) {
    if (!word.is_string()) continue;
    if (!line.empty()) line += ' ';
    line += shell_word(word.get<std::string>());
  }
  if (line.size() <= kCommandBytesMax) return line;
  const std::size_t whole = line.size();
  line.resize(kCommandBytesMax);
  while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0) == 0x80) line.pop_back();
  if (!line.empty() && static_cast<unsigned char>(line.back()) >= 0xC0) line.pop_back();
  return line + fmt::format("... ({} bytes in all)", whole);
}

std::string shown_time(std::int64_t wall_ns) {
  const std::time_t seconds = static_cast<std::time_t>(wall_ns / 1'000'000'000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

report::RunFacts run_facts(const trace::RunReader& run, const diagnose::HostSignals& host) {
  report::RunFacts facts;
  facts.command = shown_command(run.info("command"));
  facts.started = shown_time(integer(run.info("started_wall_ns")));
  facts.host = run.info("host");
  if (host.effective_cpus) facts.host += fmt::format(", {:.0f} CPU cores", *host.effective_cpus);
  facts.device = run.info("device_name");
  facts.emulated = run.info("device_kind") == "emulated";
  const std::int64_t ended_ns = integer(run.info("ended_ns"));
  if (ended_ns > 0) {
    facts.duration_s =
        static_cast<double>(ended_ns - integer(run.info("started_ns"))) * kSecondsPerNs;
  }
  facts.versions.push_back({"unstarve", run.info("unstarve_version")});
  return facts;
}

std::vector<report::Fact> watching_cost(const trace::RunReader& run, const trace::Interval& when) {
  std::vector<report::Fact> cost;
  if (const auto cores = mean_in(run, "unstarve.cpu_cores", "unstarve", when)) {
    cost.push_back({"CPU", fmt::format("{:.4f} cores for the sampler", *cores)});
  }
  if (const auto late = mean_in(run, "unstarve.tick_late_ns_max", "unstarve", when)) {
    cost.push_back({"lateness", fmt::format("{:.2f} ms, mean of each second's worst",
                                            *late * kSecondsPerNs * 1e3)});
  }
  if (const auto bytes = mean_in(run, "unstarve.resident_bytes", "unstarve", when)) {
    cost.push_back({"memory", fmt::format("{:.0f} MB", *bytes / 1e6)});
  }
  return cost;
}

/// The time that signals are taken over: the measured steps, or everything.
trace::Interval observed_span(const Analysis& analysis, const trace::RunReader& run) {
  if (analysis.measured) return analysis.measured->span;
  return {integer(run.info("started_ns")), std::numeric_limits<std::int64_t>::max()};
}

/// Takes unstarve's loader out of the advice where it cannot read the job's data.
void drop_native_loader(diagnose::Diagnosis& diagnosis) {
  const auto reads_other_data = [](const diagnose::Remedy& remedy) {
    return remedy.id == kUnstarveLoader;
  };
  for (diagnose::Finding& finding : diagnosis.findings) {
    std::erase_if(finding.remedies, reads_other_data);
  }
  for (diagnose::Hint& hint : diagnosis.hints) std::erase_if(hint.remedies, reads_other_data);
  diagnose::attach_predictions(diagnosis, {});  // writes the verdict anew
}

/// Why a job was not seen to train.
std::string why_no_steps(const trace::RunReader& run) {
  const auto processes = run.processes();
  if (processes && processes->empty()) {
    return "no training was seen: no Python of the job imported torch, or it was started with -I, "
           "-E or -S, which keep the hook out";
  }
  return "no training step was seen: no optimizer of torch stepped in the job";
}

/// `explained`: the remarks say already why there are no steps.
void fill_measurement(Analysis& analysis, const trace::RunReader& run, bool explained) {
  const diagnose::PartitionedJob& job = analysis.recording->partitioned;
  auto measured = predict::measure_run(job.job, job.rank_index());
  if (!measured) {
    if (!explained) {
      analysis.remarks.push_back(analysis.recording->timeline.steps.empty()
                                     ? why_no_steps(run)
                                     : measured.error().message);
    }
    return;
  }
  analysis.measured = *std::move(measured);
  analysis.measurement.step_us = analysis.measured->mean_step_s * kMicrosecondsPerSecond;
  analysis.measurement.au = analysis.measured->au;
  analysis.measurement.images_per_s = analysis.measured->samples_per_s;
}

}  // namespace

Result<Analysis> analyse_run(const std::string& path) {
  auto reader = trace::RunReader::open(path);
  if (!reader) return forward_error(reader);
  auto loaded = trace::load_run_with_remarks(path);
  if (!loaded) return forward_error(loaded);

  Analysis analysis(std::move(loaded->timeline));
  analysis.remarks = std::move(loaded->remarks);
  fill_measurement(analysis, *reader, loaded->rings_missing);
  const trace::Interval span = observed_span(analysis, *reader);
  analysis.host = read_host_signals(*reader, span);
  analysis.measurement.cpu_cores = analysis.host.job_cpu_cores;
  analysis.measurement.gpu_utilization_mean =
      mean_in(*reader, "gpu.utilization_ratio", "gpu0", span);
  // Without device records the driver's utilisation is the best that is known of the AU.
  if (!analysis.measurement.au) analysis.measurement.au = analysis.measurement.gpu_utilization_mean;
  analysis.utilization = read_utilization(*reader, integer(reader->info("started_ns")));
  analysis.facts = run_facts(*reader, analysis.host);
  analysis.own_cost = watching_cost(*reader, span);

  HookText hook = read_hook_text(*reader);
  if (hook.dataset_left_out) {
    analysis.remarks.emplace_back(
        "the path of the job's data is too long to be recorded: unstarve's loader was not "
        "measured on them");
  }
  diagnose::DiagnoseOptions options;
  options.run_id = reader->info("run_id");
  options.loader_place = hook.loader_place;
  analysis.hook = std::move(hook);
  if (is_image_folder(analysis)) options.image_folder = analysis.hook.dataset_root;
  analysis.diagnosis = diagnose::diagnose(analysis.recording->partitioned, analysis.host, options);
  const bool other_data = !analysis.hook.dataset_class.empty() && !is_image_folder(analysis);
  if (other_data) drop_native_loader(analysis.diagnosis);
  return analysis;
}

Result<Analysis> analyse_trace(const std::string& path, bool show_progress) {
  const SteadyClock clock;
  report::ProgressLine line(clock, progress_options(),
                            [](std::string_view text) { write_text(Stream::kErr, text); });
  observe::ImportOptions options;
  if (show_progress) {
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      const double percent =
          total == 0 ? 100 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
      line.update(fmt::format("reading {}: {:.0f} %", path, percent));
    };
  }
  auto timeline = observe::import_kineto(path, options);
  line.finish("");
  if (!timeline) return forward_error(timeline);
  Analysis analysis(*std::move(timeline));
  analysis.facts.command = path;
  const std::vector<trace::DeviceInfo>& devices = analysis.recording->timeline.devices;
  if (!devices.empty()) analysis.facts.device = devices.front().name;
  analysis.diagnosis = diagnose::diagnose(analysis.recording->partitioned, analysis.host, {});
  return analysis;
}

Result<Analysis> analyse(const std::string& path, bool show_progress) {
  std::error_code unreadable;
  const std::filesystem::path file(path);
  // Of a folder of trials the run that the others are compared with.
  if (std::filesystem::exists(file / "before" / "run.sqlite", unreadable) &&
      !std::filesystem::exists(file / "run.sqlite", unreadable)) {
    return analyse_run((file / "before").string());
  }
  if (std::filesystem::is_directory(file, unreadable) || file.extension() == ".sqlite") {
    return analyse_run(path);
  }
  return analyse_trace(path, show_progress);
}

bool is_image_folder(const Analysis& analysis) {
  return analysis.hook.dataset_class == "torchvision.datasets.folder.ImageFolder" &&
         !analysis.hook.dataset_root.empty();
}

report::Report to_report(const Analysis& analysis) {
  report::Report shown;
  shown.diagnosis = analysis.diagnosis;
  if (!analysis.utilization.t_s.empty()) shown.utilization.push_back(analysis.utilization);
  shown.own_cost = analysis.own_cost;
  shown.facts = analysis.facts;
  return shown;
}

}  // namespace unstarve::cli
