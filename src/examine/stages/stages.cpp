#include "examine/stages/stages.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/units.h"
#include "trace/run_reader.h"

namespace unstarve::examine {

namespace {

namespace fs = std::filesystem;

bool is_stage_name(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  if (name.empty() || name.size() > kLongest || name[0] == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char letter) {
    const bool word = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    return word || (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' ||
           letter == '.';
  });
}

Stage describe(const trace::RunReader& run, const fs::path& folder) {
  Stage stage;
  stage.name = folder.filename().string();
  stage.run_dir = folder.string();
  stage.started_wall_ns = run.number("started_wall_ns");
  if (run.has_ended()) {
    stage.duration_s =
        static_cast<double>(run.number("ended_ns") - run.number("started_ns")) * kSecondsPerNs;
    stage.exit_code = run.number("exit_code");
  }
  if (const auto findings = run.findings()) {
    for (const trace::FindingRow& finding : *findings) {
      if (finding.share <= stage.share) continue;
      stage.cause = finding.cause;
      stage.detail = finding.detail;
      stage.share = finding.share;
    }
  }
  return stage;
}

}  // namespace

Result<std::string> stage_folder(const std::string& parent, const std::string& run_id,
                                 const std::string& stage) {
  if (!is_stage_name(run_id)) {
    return fail(ErrorCode::kInvalidArgument,
                "--run-id {}: an id names a folder; letters, digits, '-', '_' and '.' make it",
                run_id);
  }
  const fs::path group = fs::path(parent) / run_id;
  std::error_code error;
  fs::create_directories(group, error);
  if (error) return fail_errno(error.value(), fmt::format("cannot make {}", group.string()));
  // Of several commands that begin at once only one makes a folder.
  constexpr int kMostTries = 10'000;
  for (int number = 1; number < kMostTries; ++number) {
    const fs::path folder = group / (number == 1 ? stage : fmt::format("{}-{}", stage, number));
    if (fs::create_directory(folder, error)) return folder.string();
    if (error) return fail_errno(error.value(), fmt::format("cannot make {}", folder.string()));
  }
  return fail(ErrorCode::kInvalidArgument, "{} has too many runs of {}", group.string(), stage);
}

std::vector<Stage> read_stages(const std::string& folder) {
  std::vector<Stage> stages;
  std::error_code unreadable;
  if (fs::exists(fs::path(folder) / "run.sqlite", unreadable)) return stages;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    if (!fs::exists(entry.path() / "run.sqlite", unreadable)) continue;
    const auto run = trace::RunReader::open(entry.path().string());
    if (run && !run->info("stage").empty()) stages.push_back(describe(*run, entry.path()));
  }
  std::sort(stages.begin(), stages.end(),
            [](const Stage& a, const Stage& b) { return a.started_wall_ns < b.started_wall_ns; });
  return stages;
}

std::size_t longest_stage(const std::vector<Stage>& stages) {
  const auto longest =
      std::max_element(stages.begin(), stages.end(), [](const Stage& a, const Stage& b) {
        return a.duration_s.value_or(0) < b.duration_s.value_or(0);
      });
  return static_cast<std::size_t>(longest - stages.begin());
}

}  // namespace unstarve::examine
