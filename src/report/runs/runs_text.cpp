#include "report/runs/runs_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/number_words.h"
#include "base/shell_word.h"
#include "base/units.h"
#include "diagnose/diagnosis/diagnosis.h"
#include "predict/speedup.h"
#include "report/terminal/table.h"
#include "report/words/utf8.h"
#include "report/words/words.h"
#include "trace/text/characters.h"

namespace unstarve::report {

namespace {

using runs::ListedRun;
using runs::RunState;
using runs::RunSummary;

constexpr int kNarrowestCommand = 12;
constexpr int kWidestVerdict = 32;
constexpr int kWidestTags = 24;

/// Fewer words than finding_words(), for a column.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kShortCauses = {{
    {"gpu_busy", "GPU busy"},
    {"input_wait", "waits for data"},
    {"sync", "waits for the GPU"},
    {"launch", "launches too late"},
    {"exposed_copy", "copies"},
    {"exposed_communication", "communication"},
    {"kernel_wait", "gaps of kernels"},
    {"other", "idle, unknown why"},
}};

/// At most `width` columns of printable text, its beginning and its end.
std::string without_middle(const std::string& text, int width, const TextOptions& options) {
  if (display_width(text) <= width) return text;
  const int kept_behind = width / 3;
  // A command may be long: only its end is looked at, from where a character begins.
  std::size_t from = text.size() - std::min(text.size(), 4 * static_cast<std::size_t>(width));
  while (from < text.size() && trace::continues_character(text[from])) ++from;
  std::string_view tail = std::string_view(text).substr(from);
  while (display_width(tail) > kept_behind) {
    from += decode_at(text, from).bytes;
    tail = std::string_view(text).substr(from);
  }
  return clip(text, width - display_width(tail), options) + std::string(tail);
}

Tone state_tone(const ListedRun& listed) {
  if (listed.state == RunState::kRunning) return Tone::kNotice;
  const RunSummary& run = listed.run->summary;
  const bool well =
      listed.state == RunState::kEnded && !run.exit_signal && run.exit_code.value_or(0) == 0;
  return well || run.stopped_by_us ? Tone::kPlain : Tone::kBad;
}

/// "2026-05-01_14-03-22_train" says when.
bool says_when(const std::string& name) {
  constexpr std::string_view kPattern = "dddd-dd-dd_dd-dd-dd";
  if (name.size() < kPattern.size()) return false;
  return std::equal(kPattern.begin(), kPattern.end(), name.begin(), [](char wanted, char is) {
    return wanted == 'd' ? std::isdigit(static_cast<unsigned char>(is)) != 0 : wanted == is;
  });
}

std::string list_name(const ListedRun& listed) {
  return listed.of_runs == 1 ? listed.name
                             : fmt::format("{} (+{})", listed.name, listed.of_runs - 1);
}

Cell cell(std::string_view text, const TextOptions& options, Tone tone = Tone::kPlain) {
  return {{printable(text, options)}, tone};
}

Cell clipped(std::string_view text, int width, const TextOptions& options) {
  return {{clip(printable(text, options), width, options)}};
}

/// Columns that not every list has.
struct ListColumns {
  bool when = false;
  bool tags = false;
};

void add_row(const ListedRun& listed, const ListColumns& with, const TextOptions& options,
             Table& table) {
  const RunSummary& run = listed.run->summary;
  std::vector<Cell> row = {cell(list_name(listed), options)};
  if (with.when) row.push_back(cell(local_time_text(run.started_wall_ns, false), options));
  row.push_back({{run.duration_s ? seconds_text(*run.duration_s) : "-"}});
  row.push_back(cell(state_words(listed), options, state_tone(listed)));
  row.push_back({{gpu_summary(run)}});
  row.push_back(clipped(verdict_words(*listed.run), kWidestVerdict, options));
  if (with.tags) row.push_back(clipped(run.tags, kWidestTags, options));
  row.push_back(cell(command_text(run), options));
  table.rows.push_back(std::move(row));
}

/// The last column takes what is left of the line.
void fit_command(const TextOptions& options, Table& table) {
  Table without = table;
  without.columns.pop_back();
  for (std::vector<Cell>& row : without.rows) row.pop_back();
  constexpr int kGap = 2;
  const int left = std::max(options.width - table_width(without) - kGap, kNarrowestCommand);
  for (std::vector<Cell>& row : table.rows) {
    std::string& command = row.back().lines.front();
    command = without_middle(command, left, options);
  }
}

/// Lines of "  Name       text", where there is a text.
class Lines {
 public:
  explicit Lines(const TextOptions& options) : options_(options) {}
  void add(std::string_view name, std::string_view text) {
    if (text.empty()) return;
    text_ += hanging(fmt::format("  {:<10}", name), printable(text, options_), options_);
  }
  std::string take() { return std::move(text_); }

 private:
  const TextOptions& options_;
  std::string text_;
};

std::string machine_words(const RunSummary& run) {
  std::string text = run.host;
  if (!run.device_name.empty()) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", run.device_name);
    if (run.device_kind == "emulated") text += " (emulated)";
  }
  return text;
}

std::string steps_words(const RunSummary& run) {
  if (!run.steps || *run.steps == 0) return {};
  std::string text = std::to_string(*run.steps);
  if (run.step_us) text += fmt::format(", {} each in the median", microseconds_text(*run.step_us));
  if (run.samples_per_s) text += fmt::format(", {} samples/s", number_text(*run.samples_per_s));
  return text;
}

std::string gpu_use_words(const RunSummary& run) {
  std::string text;
  if (run.au_ratio) text = "AU " + percent_text(*run.au_ratio);
  if (run.gpu_idle_ratio) {
    text += fmt::format("{}idle {} of the time", text.empty() ? "" : ", ",
                        percent_text(*run.gpu_idle_ratio));
  }
  return text;
}

std::string finding_sentence(const trace::FindingRow& row) {
  diagnose::Finding finding;
  finding.cause = row.cause;
  finding.detail = row.detail;
  return fmt::format("{} {}", percent_text(row.share), finding_words(finding));
}

std::string prediction_sentence(const trace::PredictionRow& row) {
  const predict::Speedup predicted = {row.predicted_speedup, row.low, row.high};
  std::string text = fmt::format("{} {}", row.remedy, predict::speedup_text(predicted));
  if (row.measured_speedup) text += ", measured " + factor_text(*row.measured_speedup);
  if (row.held) text += *row.held != 0 ? ", which held" : ", which did not hold";
  return text;
}

void add_results(const runs::CollectedRun& run, Lines& lines) {
  const trace::FindingRow* const leading = runs::leading_finding(run);
  if (leading != nullptr) lines.add("Verdict", finding_sentence(*leading));
  for (const trace::FindingRow& finding : run.findings) {
    if (&finding != leading) lines.add("", finding_sentence(finding));
  }
  std::string_view name = "Predicted";
  for (const trace::PredictionRow& prediction : run.predictions) {
    lines.add(std::exchange(name, ""), prediction_sentence(prediction));
  }
}

}  // namespace

std::string command_text(const RunSummary& run) {
  std::string text;
  for (const std::string& word : runs::command_of(run)) {
    text += (text.empty() ? "" : " ") + shell_word(word);
  }
  return text;
}

std::string short_cause_words(std::string_view cause) {
  for (const auto& [named, words] : kShortCauses) {
    if (named == cause) return std::string(words);
  }
  return std::string(cause);
}

std::string verdict_words(const runs::CollectedRun& run) {
  if (!run.summary.problem.empty()) return "cannot be read";
  const trace::FindingRow* const finding = runs::leading_finding(run);
  if (finding == nullptr) return "-";
  return fmt::format("{} {}", percent_text(finding->share), short_cause_words(finding->cause));
}

std::string gpu_summary(const RunSummary& run) {
  if (run.au_ratio) return "AU " + percent_text(*run.au_ratio);
  return run.gpu_idle_ratio ? "idle " + percent_text(*run.gpu_idle_ratio) : "-";
}

std::string local_time_text(std::int64_t wall_ns, bool seconds) {
  if (wall_ns <= 0) return "?";
  const auto when = static_cast<std::time_t>(wall_ns / kSecondNs);
  std::tm local{};
  ::localtime_r(&when, &local);
  char text[64] = {};
  std::strftime(text, sizeof(text), seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &local);
  return text;
}

std::string state_words(const ListedRun& listed) {
  const RunSummary& run = listed.run->summary;
  if (listed.state != RunState::kEnded) return std::string(runs::to_string(listed.state));
  if (run.stopped_by_us) return "stopped";
  if (run.attached_pid) return "watched";
  if (run.exit_signal) return signal_name(*run.exit_signal);
  return run.exit_code ? fmt::format("exit {}", *run.exit_code) : "ended";
}

std::string runs_table(const std::vector<ListedRun>& listed, const TextOptions& options) {
  ListColumns with;
  for (const ListedRun& run : listed) {
    with.when = with.when || !says_when(run.name);
    with.tags = with.tags || !run.run->summary.tags.empty();
  }
  Table table;
  const auto add = [&table](const char* title) { table.columns.push_back({{title}, false}); };
  add("run");
  if (with.when) add("began");
  for (const char* const title : {"took", "state", "GPU", "verdict"}) add(title);
  if (with.tags) add("tags");
  add("command");
  for (const ListedRun& run : listed) add_row(run, with, options, table);
  fit_command(options, table);
  return render_table(table, options);
}

std::string run_text(const ListedRun& listed, const std::string& folder,
                     const TextOptions& options) {
  const runs::CollectedRun& run = *listed.run;
  const RunSummary& summary = run.summary;
  Lines lines(options);
  lines.add("Problem", summary.problem);
  lines.add("Command", command_text(summary));
  std::string began;
  if (summary.started_wall_ns > 0) began = local_time_text(summary.started_wall_ns, true);
  if (summary.duration_s) began += ", took " + seconds_text(*summary.duration_s);
  lines.add("Began", began);
  lines.add("State", state_words(listed));
  lines.add("Stage", summary.stage);
  lines.add("Machine", machine_words(summary));
  lines.add("Steps", steps_words(summary));
  lines.add("GPU", gpu_use_words(summary));
  add_results(run, lines);
  lines.add("Tags", summary.tags);
  lines.add("Note", summary.note);
  lines.add("On disk", bytes_text(static_cast<double>(summary.size_bytes)));
  lines.add("Written",
            summary.unstarve_version.empty() ? "" : "by unstarve " + summary.unstarve_version);
  return printable(folder, options) + "\n" + lines.take();
}

}  // namespace unstarve::report
