#include "examine/history/tried_predictions.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>

#include "examine/history/trial_dirs.h"
#include "examine/history/trial_list.h"
#include "trace/run_reader.h"

namespace unstarve::examine {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRuns = 500;  // some 2 ms each

/// The predictions that a run's store keeps. `shown`: the folder that they are known by.
void add_stored(const std::string& dir, const fs::path& shown,
                std::vector<predict::TriedPrediction>& tried) {
  const auto reader = trace::RunReader::open(dir);
  if (!reader) return;
  const auto rows = reader->predictions();
  if (!rows) return;
  for (const trace::PredictionRow& row : *rows) {
    if (!row.measured_speedup || !row.held) continue;
    predict::TriedPrediction prediction;
    prediction.remedy = row.remedy;
    prediction.predicted = {row.predicted_speedup, row.low, row.high};
    prediction.measured = {*row.measured_speedup, row.measured_low.value_or(*row.measured_speedup),
                           row.measured_high.value_or(*row.measured_speedup)};
    prediction.held = *row.held != 0;
    prediction.run = shown.filename().string();
    tried.push_back(std::move(prediction));
  }
}

void add_tried(const fs::path& run, std::vector<predict::TriedPrediction>& tried) {
  const std::string folder = run.string();
  if (!holds_trials(folder)) return add_stored(folder, run, tried);
  add_stored(trial_dir(folder, kBefore), run, tried);
  std::set<std::string> bases;  // remedies that others were tried on top of
  for (const ListedTrial& trial : read_trial_list(folder)) {
    if (trial.base != kBefore) bases.insert(trial.base);
  }
  for (const std::string& base : bases) add_stored(trial_dir(folder, base), run, tried);
}

}  // namespace

Result<std::vector<predict::TriedPrediction>> read_tried_predictions(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> runs;
  for (auto entry = fs::directory_iterator(folder, failed); entry != fs::directory_iterator();
       entry.increment(failed)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) runs.push_back(entry->path());
    if (failed) break;
  }
  if (failed) {
    return fail(ErrorCode::kNotFound, "{}: no folder of runs ({})", folder, failed.message());
  }
  // Their names begin with the time at which they were made.
  std::sort(runs.begin(), runs.end(), std::greater<>());
  runs.resize(std::min(runs.size(), kMostRuns));
  std::vector<predict::TriedPrediction> tried;
  for (const fs::path& run : runs) add_tried(run, tried);
  return tried;
}

std::string folder_of_runs(const std::string& run_dir) {
  fs::path run = fs::absolute(fs::path(run_dir)).lexically_normal();
  if (!run.has_filename()) run = run.parent_path();
  const fs::path parent = run.parent_path();
  return (holds_trials(parent.string()) ? parent.parent_path() : parent).string();
}

}  // namespace unstarve::examine
