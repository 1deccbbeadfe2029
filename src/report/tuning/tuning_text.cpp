#include "report/tuning/tuning_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/number_words.h"
#include "base/shell_word.h"
#include "predict/speedup.h"
#include "report/tuning/reason_words.h"
#include "report/words/words.h"
#include "tune/levers/trainer_settings.h"

namespace unstarve::report {

namespace {

constexpr double kNoisy = 0.1;
constexpr int kGainWidth = 22;
constexpr int kBoundWidth = 7;
constexpr int kMemoryWidth = 10;
constexpr int kParityWidth = 12;
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string speed_text(const std::optional<predict::Speedup>& speed) {
  if (!speed) return "-";
  return speedup_text(*speed);
}

std::string memory_text(std::int64_t bytes) {
  return bytes > 0 ? fmt::format("{:.2f} GiB", static_cast<double>(bytes) / kGiB) : "-";
}

std::string parity_text(const tune::LeverResult& lever) {
  if (!lever.speedup && lever.parity == tune::Parity::kNotNeeded) return "-";
  std::string text(tune::to_string(lever.parity));
  std::replace(text.begin(), text.end(), '_', ' ');
  const bool judged = lever.is_kept() || lever.parity != tune::Parity::kNotNeeded;
  return judged ? text : "-";
}

/// "; a call takes 12.3 ms, 95 of 100 at most 14.1 ms"; empty of a job that trains.
std::string latency_text(const tune::Latency& latency) {
  if (!latency.known()) return {};
  std::string text = "; a call takes " + seconds_text(latency.median_s);
  if (latency.p95_s > 0) text += ", 95 of 100 at most " + seconds_text(latency.p95_s);
  return text;
}

std::string outcome(const tune::LeverResult& lever) {
  if (lever.is_kept()) {
    return "kept: " + reason_words(lever.why) + latency_text(lever.latency) +
           (lever.pays_off_steps > 0 ? fmt::format("; its longer start pays off after {:.0f} steps",
                                                   lever.pays_off_steps)
                                     : "");
  }
  return (lever.tried ? "" : "not tried: ") + reason_words(lever.why);
}

/// What it was predicted to gain at most; gains beyond ten times are not told apart.
std::string bound_text(const tune::LeverResult& lever) {
  constexpr double kMany = 10;
  if (!lever.at_most || lever.too_small) return {};
  return *lever.at_most > kMany ? "any" : factor_text(*lever.at_most);
}

/// The words beside a row's cells, or below them where too few columns are left.
std::string row_with_words(const std::string& cells, const std::string& words,
                           const TextOptions& options) {
  constexpr int kColumnsForWords = 50;
  if (options.width - display_width(cells) >= kColumnsForWords) {
    return hanging(cells, words, options);
  }
  const std::size_t end = cells.find_last_not_of(' ');
  return cells.substr(0, end + 1) + "\n" + hanging("      ", words, options);
}

struct Cells {
  std::string gain;
  std::string bound;
  std::string memory;
  std::string parity;
};

std::string row(const std::string& id, int id_width, const Cells& cells) {
  return "  " + pad_right(id, id_width) + "  " + pad_right(cells.gain, kGainWidth) +
         pad_left(cells.bound, kBoundWidth) + pad_left(cells.memory, kMemoryWidth) + "  " +
         pad_right(cells.parity, kParityWidth) + "  ";
}

bool was_tried(const tune::TuneResult& result) {
  return std::any_of(result.levers.begin(), result.levers.end(),
                     [](const tune::LeverResult& lever) { return lever.tried; });
}

std::string proposals(const tune::TuneResult& result, const TextOptions& options) {
  std::string text;
  for (const tune::LeverResult& lever : result.levers) {
    if (!lever.is_proposed()) continue;
    if (text.empty()) text = "Proposed, since it changes the training:\n";
    text += hanging("  - ", printable(lever.lever.permanent, options), options);
  }
  return text;
}

/// "41.3 ms a step on cuda (40.9 ms to 44.1 ms in 8 runs), 1550 samples/s".
std::string how_fast(const tune::TuneResult& result, const TextOptions& options) {
  const tune::TrialResult& job = result.baseline;
  const double step_s = tune::step_as_it_is_s(result);
  std::string text =
      fmt::format("{} a step on {}", seconds_text(step_s), printable(job.device, options));
  if (result.as_it_is_s.size() > 1) {
    const auto [least, most] =
        std::minmax_element(result.as_it_is_s.begin(), result.as_it_is_s.end());
    text += fmt::format(" ({} to {} in {} runs)", seconds_text(*least), seconds_text(*most),
                        result.as_it_is_s.size());
  }
  if (job.samples_per_step > 0 && step_s > 0) {
    text += fmt::format(", {:.4g} {}", job.samples_per_step / step_s,
                        job.samples_are_rows ? "rows/s of the model's input" : "samples/s");
  }
  return text + latency_text(job.latency);
}

/// By which the levers are ordered; empty where nobody saw it.
std::string where_time_goes(const tune::StepShares& shares) {
  std::vector<std::string> parts;
  const auto add = [&parts](double share, const char* description) {
    constexpr double kWorthNaming = 0.01;
    if (share >= kWorthNaming)
      parts.push_back(fmt::format("{:.0f} % {}", 100 * share, description));
  };
  if (shares.of_gpu()) {
    add(shares.compute, "the GPU computes");
    add(shares.launches, "it idles because the host launches too late");
    add(shares.memory, "for calls about its memory");
    add(shares.copies, "for copies");
    add(shares.loading, "for the loader");
  } else if (shares.of_cpu()) {
    add(shares.products, "products of matrices");
    add(shares.optimizer, "the optimizer");
    add(shares.zeroing, "zero_grad()");
    add(shares.system, "the system, mostly for memory");
    add(shares.loading, "waiting for the loader");
  }
  if (parts.empty()) return {};
  return fmt::format("Of that: {}. What may gain most was tried first.", fmt::join(parts, ", "));
}

}  // namespace

std::string kept_command(const tune::KeptCommand& command) {
  std::string line;
  const auto add = [&line](const std::string& word) { line += (line.empty() ? "" : " ") + word; };
  for (const auto& [name, value] : command.environment) add(name + "=" + shell_word(value));
  for (const std::string& word : command.words) add(shell_word(word));
  return line;
}

std::string kept_settings(const tune::TuneResult& result) {
  std::vector<const tune::Lever*> kept;
  for (const tune::LeverResult& lever : result.levers) {
    if (lever.is_kept()) kept.push_back(&lever.lever);
  }
  const tune::TrialResult& job = result.baseline;
  return tune::trainer_settings(job.trainer, kept);
}

std::string render_patch(const tune::ScriptPatch& patch, const std::string& path,
                         const TextOptions& options) {
  const std::string no_gain =
      patch.why_no_gain
          ? hanging("", "Note: " + printable(reason_words(patch.why_no_gain), options), options)
          : "";
  if (patch.diff.empty()) return no_gain;
  const std::string apply =
      fmt::format("patch -p1{} < {}", patch.from_root ? " -d /" : "", shell_word(path));
  std::string about = fmt::format("As a change of {} ({}):", patch.script, apply);
  if (!patch.left.empty()) {
    about = fmt::format("As a change of {}, without {} ({}):", patch.script,
                        fmt::join(patch.left, ", "), apply);
  }
  std::string text = printable(about, options) + "\n";  // on one line: a shell reads it
  for (std::size_t from = 0; from < patch.diff.size();) {
    const std::size_t end = std::min(patch.diff.find('\n', from), patch.diff.size());
    text += "  " + printable(patch.diff.substr(from, end - from), options) + "\n";
    from = end + 1;
  }
  if (patch.gain) {
    text += hanging("",
                    fmt::format("Run like that, and by the command above where there is one, the "
                                "job is {} faster.",
                                speed_text(patch.gain)),
                    options);
  }
  return text + no_gain;
}

std::string trial_words(const tune::TrialResult& trial) {
  if (trial.ending != tune::Ending::kMeasured) return std::string(tune::to_string(trial.ending));
  if (trial.mean_step_s > 0) return seconds_text(trial.mean_step_s) + " a step";
  return fmt::format("{} loss{} and the first gradient", trial.losses.size(),
                     trial.losses.size() == 1 ? "" : "es");
}

std::string lever_sentence(const tune::LeverResult& lever) {
  // How far other runs may differ from these is known at the end.
  const std::string gain = lever.speedup ? factor_text(lever.speedup->speedup) + ", " : "";
  return fmt::format("{}: {}{}", lever.lever.id, gain, outcome(lever));
}

std::string noise_sentence(double noise_ratio) {
  return fmt::format("the job differs by {:.1f} % between two runs as it is", 100 * noise_ratio);
}

std::string left_out_sentence(const tune::LeverResult& lever) {
  const bool failed = lever.tried && lever.outcome == tune::Outcome::kNotMeasured;
  return fmt::format("{} {}: {}", lever.lever.id,
                     failed        ? "was not measured"
                     : lever.tried ? "is not kept"
                                   : "is not tried",
                     reason_words(lever.why));
}

std::string render_tuning(const tune::TuneResult& result, const TextOptions& options) {
  int id_width = 8;
  for (const tune::LeverResult& lever : result.levers) {
    if (lever.tried) id_width = std::max(id_width, display_width(lever.lever.id));
  }
  std::string text =
      row("lever", id_width, {"gain", "at most", "memory", "parity"}) + "kept or not, why\n";
  const std::string as_it_is = row("as it is", id_width,
                                   {fmt::format("noise {:.1f} %", 100 * result.noise_ratio), "",
                                    memory_text(result.baseline.peak_memory_bytes), "-"});
  text += row_with_words(as_it_is, how_fast(result, options), options);
  if (const std::string where = where_time_goes(result.baseline.shares); !where.empty()) {
    text += hanging("      ", where, options);
  }
  for (const tune::LeverResult& lever : result.levers) {
    if (!lever.tried) continue;
    const std::string first = row(printable(lever.lever.id, options), id_width,
                                  {speed_text(lever.speedup), bound_text(lever),
                                   memory_text(lever.peak_memory_bytes), parity_text(lever)});
    text += row_with_words(first, printable(outcome(lever), options), options);
  }
  for (const tune::LeverResult& lever : result.levers) {
    if (lever.tried) continue;
    text += hanging("  not tried: ",
                    printable(lever.lever.id + ": " + reason_words(lever.why), options), options);
  }
  if (result.when_fed && result.when_fed->low > tune::kHeldUpByLoader) {
    text += hanging("",
                    fmt::format("With batches that are there already the job runs {}: its loader "
                                "holds it up. unstarve run --fix looks for what feeds it.",
                                speed_text(result.when_fed)),
                    options);
  }
  if (result.noise_ratio > kNoisy) {
    text += "Two runs of the job as it is differ that much: repeat this on a quiet machine.\n";
  }
  if (!result.unfinished.empty()) {
    text += hanging("", "The search is not finished: " + printable(result.unfinished, options),
                    options);
  }
  if (result.kept.empty()) {
    const bool is_whole = result.unfinished.empty() && was_tried(result);
    text += is_whole ? "Nothing is kept: the job is best as it is.\n" : "Nothing is kept.\n";
    return text + proposals(result, options);
  }
  text += result.best
              ? fmt::format("Kept, together {} faster. To make it permanent:\n",
                            speed_text(result.best))
              : "Kept. Together they were not measured against the job. To make it permanent:\n";
  for (const tune::LeverResult& lever : result.levers) {
    if (!lever.is_kept()) continue;
    text += hanging("  - ", printable(lever.lever.permanent, options), options);
  }
  if (const std::string settings = kept_settings(result); !settings.empty()) {
    text += hanging("  or: ", printable(settings, options), options);
  }
  if (const std::string line = kept_command(result.command); !line.empty()) {
    text += "  as a command: " + printable(line, options) + "\n";
  }
  return text + proposals(result, options);
}

}  // namespace unstarve::report
