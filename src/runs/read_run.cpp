#include "runs/read_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/units.h"
#include "runs/labels.h"
#include "trace/run_reader.h"

namespace unstarve::runs {

namespace {

namespace fs = std::filesystem;

/// A number of the table `run`; absent for a key that it lacks, or that is none.
template <class Number>
Reading<Number> number_of(const trace::RunReader& run, const char* key) {
  const std::string text = run.info(key);
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || rest != end) return WhyAbsent::kNotObserved;
  return number;
}

void read_end(const trace::RunReader& run, RunSummary& summary) {
  summary.has_ended = run.has_ended();
  summary.attached_pid = number_of<std::int64_t>(run, "attached_pid");
  if (!summary.has_ended) return;
  summary.duration_s =
      static_cast<double>(run.number("ended_ns") - run.number("started_ns")) * kSecondsPerNs;
  summary.exit_signal = number_of<std::int64_t>(run, "exit_signal");
  summary.stopped_by_us = run.info("stopped_by") == "unstarve";
  if (!summary.attached_pid) summary.exit_code = number_of<std::int64_t>(run, "exit_code");
}

void read_verdict(const trace::RunReader& run, RunSummary& summary) {
  summary.step_us = number_of<double>(run, "step_us");
  summary.samples_per_s = number_of<double>(run, "samples_per_s");
  summary.au_ratio = number_of<double>(run, "au_ratio");
  summary.gpu_idle_ratio = number_of<double>(run, "gpu_idle_ratio");
  summary.leading_finding = number_of<std::int64_t>(run, "leading_finding");
}

Status read_store(const trace::RunReader& run, CollectedRun& collected) {
  RunSummary& summary = collected.summary;
  summary.run_id = run.info("run_id");
  summary.command_json = run.info("command");
  summary.started_wall_ns = run.number("started_wall_ns");
  summary.stage = run.info("stage");
  summary.host = run.info("host");
  summary.device_kind = run.info("device_kind");
  summary.device_name = run.info("device_name");
  summary.unstarve_version = run.info("unstarve_version");
  summary.watcher = run.info("watcher");
  read_end(run, summary);
  read_verdict(run, summary);
  const auto steps = run.step_count();
  if (!steps) return forward_error(steps);
  summary.steps = *steps;
  auto findings = run.findings();
  if (!findings) return forward_error(findings);
  collected.findings = *std::move(findings);
  auto predictions = run.predictions();
  if (!predictions) return forward_error(predictions);
  collected.predictions = *std::move(predictions);
  return {};
}

/// A run has its group's labels besides its own.
void read_labels_of(const std::string& folder, RunSummary& summary) {
  Labels labels = read_labels(folder + "/" + summary.name);
  if (const std::string group = group_of(summary); !group.empty()) {
    Labels more = read_labels(folder + "/" + group);
    labels.tags.insert(labels.tags.end(), more.tags.begin(), more.tags.end());
    std::sort(labels.tags.begin(), labels.tags.end());
    labels.tags.erase(std::unique(labels.tags.begin(), labels.tags.end()), labels.tags.end());
    if (labels.note.empty()) labels.note = std::move(more.note);
  }
  summary.tags = fmt::format("{}", fmt::join(labels.tags, " "));
  summary.note = std::move(labels.note);
}

}  // namespace

std::int64_t size_on_disk(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code failed;
  for (auto entry = fs::recursive_directory_iterator(folder, failed);
       entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (failed) break;
    std::error_code gone;
    if (entry->is_symlink(gone) || !entry->is_regular_file(gone)) continue;
    const std::uintmax_t size = entry->file_size(gone);
    if (!gone) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

CollectedRun read_run(const std::string& folder, const FoundRun& found, std::int64_t now_ns) {
  CollectedRun collected;
  RunSummary& summary = collected.summary;
  summary.name = found.name;
  summary.fingerprint = found.fingerprint;
  summary.changed_ns = found.changed_ns;
  summary.read_ns = now_ns;
  const std::string dir = folder + "/" + found.name;
  read_labels_of(folder, summary);
  summary.size_bytes = size_on_disk(dir);
  const auto run = trace::RunReader::open(dir);
  if (!run) {
    summary.problem = run.error().message;
  } else if (const Status read = read_store(*run, collected); !read) {
    summary.problem = read.error().message;
  }
  return collected;
}

}  // namespace unstarve::runs
