#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "report/runs/cluster_text.h"
#include "report/runs/runs_text.h"
#include "report/terminal/table.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

using runs::JobRecord;
using runs::JobRecords;

constexpr const char* kNotWatched = "not watched";
constexpr int kGapBefore = 2;
constexpr int kNarrowestReason = 16;
constexpr int kWidestName = 14;

std::string hours_cell(const Reading<double>& hours) { return hours ? number_text(*hours) : "-"; }

Cell name_cell(const std::string& name, const TextOptions& options) {
  return {{clip(printable(name, options), kWidestName, options)}};
}

std::string cpus_cell(const JobRecord& job) {
  if (!job.cpus || !job.cpu_cores) return "-";
  return fmt::format("{:.1f} of {:.0f}", *job.cpu_cores, *job.cpus);
}

/// Why its GPUs idled, and the change that was named.
std::vector<std::string> reason_lines(const JobRecord& job) {
  if (!job.watched) return {kNotWatched};
  const runs::WatchedJob& said = job.said;
  std::vector<std::string> lines;
  if (said.cause.empty()) {
    lines.push_back(said.verdict.empty() ? "nothing found" : said.verdict);
  } else {
    const std::string words = short_cause_words(said.cause);
    lines.push_back(said.share ? percent_text(*said.share) + " " + words : words);
  }
  if (!said.change.empty()) {
    lines.push_back(said.gain ? said.change + " " + factor_text(*said.gain) : said.change);
  }
  return lines;
}

/// The last column takes what is left of the line.
void fit_reasons(const TextOptions& options, Table& table) {
  Table without = table;
  without.columns.pop_back();
  for (std::vector<Cell>& row : without.rows) row.pop_back();
  const int left = std::max(options.width - table_width(without) - kGapBefore, kNarrowestReason);
  for (std::vector<Cell>& row : table.rows) {
    std::vector<std::string> lines;
    for (const std::string& line : row.back().lines) {
      for (std::string& wrapped : wrap(printable(line, options), left)) {
        lines.push_back(std::move(wrapped));
      }
    }
    row.back().lines = std::move(lines);
  }
}

Table jobs_table(const JobRecords& records, std::size_t shown, const TextOptions& options) {
  const bool users = std::any_of(records.jobs.begin(), records.jobs.end(),
                                 [](const JobRecord& job) { return !job.user.empty(); });
  Table table;
  table.columns.push_back({{"job"}, false});
  if (users) table.columns.push_back({{"user"}, false});
  table.columns.push_back({{"GPUs"}});
  table.columns.push_back({{"GPU", "hours"}});
  table.columns.push_back({{"idle", "hours"}});
  table.columns.push_back({{"GPU use"}});
  table.columns.push_back({{"CPUs"}});
  table.columns.push_back({{"why it idled"}, false});
  for (std::size_t i = 0; i < shown; ++i) {
    const JobRecord& job = records.jobs[i];
    std::vector<Cell> row = {name_cell(job.job, options)};
    if (users) row.push_back(name_cell(job.user, options));
    row.push_back({{job.gpus ? fmt::format("{:.0f}", *job.gpus) : "-"}});
    row.push_back({{hours_cell(job.gpu_hours)}});
    row.push_back({{hours_cell(job.idle_gpu_hours)}});
    row.push_back({{job.gpu_use_ratio ? percent_text(*job.gpu_use_ratio) : "-"}});
    row.push_back({{cpus_cell(job)}});
    row.push_back({reason_lines(job), job.watched ? Tone::kPlain : Tone::kFaint});
    table.rows.push_back(std::move(row));
  }
  fit_reasons(options, table);
  return table;
}

std::string jobs_count(std::size_t count) {
  return count == 1 ? "1 job" : fmt::format("{} jobs", count);
}

struct Totals {
  double hours = 0;
  double idle = 0;
  std::size_t idle_unknown = 0;
  std::size_t unwatched = 0;
  bool at_least = false;  // some idle time is known by the driver's utilisation alone
};

Totals totals_of(const JobRecords& records) {
  Totals totals;
  for (const JobRecord& job : records.jobs) {
    totals.hours += job.gpu_hours.value_or(0);
    totals.idle += job.idle_gpu_hours.value_or(0);
    if (!job.idle_gpu_hours) ++totals.idle_unknown;
    if (job.watched) continue;
    ++totals.unwatched;
    totals.at_least = totals.at_least || job.idle_gpu_hours.has_value();
  }
  return totals;
}

std::string totals_sentence(const JobRecords& records, const Totals& totals) {
  std::string text = fmt::format("{} had GPUs for {:.0f} h, of which {}{:.0f} h were idle.",
                                 jobs_count(records.jobs.size()), totals.hours,
                                 totals.at_least ? "at least " : "", totals.idle);
  if (totals.idle_unknown > 0) {
    text += fmt::format(" It is not known of {}.", jobs_count(totals.idle_unknown));
  }
  return text;
}

std::string unwatched_sentence(const Totals& totals) {
  if (totals.unwatched == 0) return {};
  const bool one = totals.unwatched == 1;
  return fmt::format(
      "{} not watched: the record does not say why {} GPUs idled. `unstarve run -- COMMAND` in "
      "the job's script finds it out, and keeps it with the job as docs/formats/summary.md says.",
      one ? "1 job was" : fmt::format("{} jobs were", totals.unwatched), one ? "its" : "their");
}

std::string left_out_sentence(const JobRecords& records, std::size_t shown) {
  std::string text;
  const auto add = [&text](std::size_t count, std::string_view words) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, words);
  };
  add(records.jobs.size() - shown, "that idled less (`--limit`)");
  add(records.without_gpu, "without a GPU");
  add(records.without_record, "without a record (too short, or not ended)");
  add(records.unreadable, fmt::format("whose record is damaged ({})", records.first_unreadable));
  return text.empty() ? text : fmt::format("Left out: {}.", text);
}

}  // namespace

std::string cluster_text(const JobRecords& records, std::size_t at_most,
                         const TextOptions& options) {
  const std::size_t shown = std::min(records.jobs.size(), at_most);
  std::string text;
  const auto say = [&](const std::string& sentence) {
    if (!sentence.empty()) text += hanging("", printable(sentence, options), options);
  };
  if (records.jobs.empty()) {
    say("No job here has a record of GPUs.");
  } else {
    text += render_table(jobs_table(records, shown, options), options) + "\n";
    const Totals totals = totals_of(records);
    say(totals_sentence(records, totals));
    say(unwatched_sentence(totals));
  }
  say(left_out_sentence(records, shown));
  return text;
}

}  // namespace unstarve::report
