#include "report/rehearsal/rehearsal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "base/number_words.h"
#include "report/terminal/table.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

constexpr int kIndent = 2;
constexpr int kWidestKind = 12;

std::string percent(double ratio) { return fmt::format("{:.0f}", 100 * ratio); }

std::string au_text(const predict::Interval90& au) {
  return fmt::format("{} [{}..{}]", percent(au.value), percent(au.low), percent(au.high));
}

/// "unstarve_loader" in two lines.
std::vector<std::string> title_of(const std::string& remedy) {
  const std::size_t at = remedy.find('_');
  if (at == std::string::npos) return {remedy};
  return {remedy.substr(0, at + 1), remedy.substr(at + 1)};
}

std::string cores_text(const predict::Interval90& cores) {
  const int decimals = cores.high < 10 ? 1 : 0;
  return fmt::format("{:.{}f} [{:.{}f}..{:.{}f}]", cores.value, decimals, cores.low, decimals,
                     cores.high, decimals);
}

/// Enough for certain, perhaps, or not.
Tone tone_of(const predict::Interval90& au, double target) {
  if (au.low >= target) return Tone::kGood;
  return au.high >= target ? Tone::kNotice : Tone::kBad;
}

/// A kind's name; of a file, the file's.
std::string name_of(const rehearse::RehearsedKind& kind, const TextOptions& options) {
  const std::filesystem::path name(kind.name);
  const std::string shown = name.has_parent_path() ? name.stem().string() : name.string();
  return clip(printable(shown, options), kWidestKind, options);
}

Cell kind_cell(const rehearse::Rehearsal& all, const rehearse::RehearsedCell& cell,
               const TextOptions& options) {
  return {{name_of(all.kinds[cell.kind], options)}, Tone::kStrong};
}

std::string indented(const Table& table, const TextOptions& options) {
  const std::string text = render_table(table, options);
  std::string shifted;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start) + 1;
    shifted += repeat(" ", kIndent) + text.substr(start, end - start);
    start = end;
  }
  return shifted;
}

std::string capacity_table(const rehearse::Rehearsal& all, const TextOptions& options) {
  const std::string target = fmt::format("for {} %", percent(all.target_au));
  Table table;
  table.columns = {{{"GPU"}, false},
                   {{"GPUs"}, true},
                   {{"AU, %"}, true},
                   {{"cores", target}, true},
                   {{"workers", "per GPU"}, true},
                   {{"reads", "per s"}, true}};
  for (const rehearse::RehearsedCell& cell : all.cells) {
    const predict::Interval90& au = cell.forecast.au;
    const Cell cores = cell.cores_needed ? Cell{{cores_text(*cell.cores_needed)}}
                                         : Cell{{"none is enough"}, Tone::kBad};
    const Cell reads = cell.storage_bytes_per_s_needed
                           ? Cell{{bytes_text(*cell.storage_bytes_per_s_needed)}}
                           : Cell{{"n/a"}, Tone::kFaint};
    table.rows.push_back({kind_cell(all, cell, options),
                          {{fmt::format("{}", cell.gpus)}},
                          {{au_text(au)}, tone_of(au, all.target_au)},
                          cores,
                          {{fmt::format("{}", cell.workers_needed)}},
                          reads});
  }
  return indented(table, options);
}

/// Remedies that help somewhere, in the order in which they come up.
std::vector<std::string> remedies_in(const rehearse::Rehearsal& all) {
  std::vector<std::string> ids;
  for (const rehearse::RehearsedCell& cell : all.cells) {
    for (const rehearse::RehearsedRemedy& remedy : cell.remedies) {
      if (std::find(ids.begin(), ids.end(), remedy.id) == ids.end()) ids.push_back(remedy.id);
    }
  }
  return ids;
}

Cell remedy_cell(const rehearse::Rehearsal& all, const rehearse::RehearsedCell& cell,
                 const std::string& id) {
  const auto found =
      std::find_if(cell.remedies.begin(), cell.remedies.end(),
                   [&id](const rehearse::RehearsedRemedy& remedy) { return remedy.id == id; });
  if (found == cell.remedies.end()) return {{"-"}, Tone::kFaint};
  return {{au_text(found->au)}, tone_of(found->au, all.target_au)};
}

std::string remedy_table(const rehearse::Rehearsal& all, const TextOptions& options) {
  const std::vector<std::string> ids = remedies_in(all);
  if (ids.empty()) return {};
  Table table;
  table.columns = {{{"AU, %", "with"}, false}, {{"GPUs"}, true}};
  for (const std::string& id : ids) table.columns.push_back({title_of(id), true});
  for (const rehearse::RehearsedCell& cell : all.cells) {
    if (cell.remedies.empty()) continue;
    std::vector<Cell> row = {kind_cell(all, cell, options), {{fmt::format("{}", cell.gpus)}}};
    for (const std::string& id : ids) row.push_back(remedy_cell(all, cell, id));
    table.rows.push_back(std::move(row));
  }
  return "\n" + indented(table, options);
}

std::string run_sentence(const rehearse::RehearsedRunFacts& run) {
  const std::string loader =
      run.workers == 0 ? std::string("no workers") : fmt::format("{} workers", run.workers);
  std::string text = fmt::format(
      "Rehearsed on {:.3g} cores with {}: {} steps of {} behind the warm-up. A batch takes {} of "
      "CPU to make, the training thread {} of its own.",
      run.cores, loader, run.steps, seconds_text(run.step_s), seconds_text(run.fetch_cpu_s),
      seconds_text(run.host_cpu_s));
  return text + fmt::format(" AU measured in this run: {}; the model's step is off by {:+.1f} %.",
                            percent_text(run.measured_au), 100 * run.misfit_ratio);
}

std::string kinds_text(const rehearse::Rehearsal& all, const TextOptions& options) {
  std::string text;
  for (const rehearse::RehearsedKind& kind : all.kinds) {
    std::string line = fmt::format("{}, {} a step by {}", kind.device_name,
                                   seconds_text(kind.device_s), to_string(kind.by));
    if (kind.memory_needed_ratio && *kind.memory_needed_ratio > 1) {
      line += fmt::format("; the job took {:.2g} times the memory that it has",
                          *kind.memory_needed_ratio);
    }
    text += hanging("  " + pad_right(name_of(kind, options), kWidestKind) + " ",
                    printable(line, options), options);
  }
  return text;
}

}  // namespace

std::string render_rehearsal(const rehearse::Rehearsal& rehearsal, const TextOptions& options) {
  std::string text = paint("Will this pipeline feed the GPUs? (emulated)", Tone::kStrong, options);
  text += "\n\n" + capacity_table(rehearsal, options) + remedy_table(rehearsal, options) + "\n";
  text += hanging("", printable(run_sentence(rehearsal.run), options), options);
  text += hanging("",
                  "AU: the step with batches that cost nothing, by the step as it is; in brackets "
                  "where it lies with 90 %. N GPUs are N such processes on " +
                      fmt::format("{:.3g} cores.", rehearsal.cores),
                  options);
  text += "\n" + kinds_text(rehearsal, options);
  for (const std::string& note : rehearsal.notes) {
    text += hanging("  note: ", printable(note, options), options);
  }
  return text;
}

}  // namespace unstarve::report
