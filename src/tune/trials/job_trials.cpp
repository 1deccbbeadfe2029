#include "tune/trials/job_trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "base/statistics.h"
#include "base/units.h"
#include "examine/calibration/calibrate.h"
#include "examine/examination.h"
#include "tune/levers/catalogue.h"
#include "tune/levers/class_argument.h"
#include "tune/trials/compiling.h"
#include "tune/trials/diary.h"
#include "tune/trials/trial_watch.h"

namespace unstarve::tune {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestWindows = 4;
constexpr std::size_t kMostGroups = 200;
constexpr std::size_t kShownOutput = 4000;
constexpr const char* kInFloat64 = "float64";  // as the hook calls it
const std::vector<const Lever*> kNoLevers;

std::size_t size_of_group(std::size_t steps) { return (steps + kMostGroups - 1) / kMostGroups; }

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string end_of(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  std::ifstream file(path, std::ios::binary);
  if (!none && size > kShownOutput) file.seekg(static_cast<std::streamoff>(size - kShownOutput));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string folder_name(const std::string& label) {
  std::string name = label;
  for (char& c : name) {
    if (c == '/' || c == ' ') c = '_';
  }
  return name;
}

/// unstarve's package, before what the job's own variable says.
Result<std::string> python_path(const launch::Installation& parts, const std::string& folder) {
  auto ours = launch::lone_package_dir(parts, folder + "/package");
  const char* theirs = std::getenv("PYTHONPATH");
  if (ours && theirs != nullptr && *theirs != '\0') *ours += std::string(":") + theirs;
  return ours;
}

/// What the hook of tuning has to say that it applied.
std::vector<std::string> hook_names(const TrialRequest& request,
                                    const std::vector<const Lever*>& levers) {
  std::vector<std::string> names;
  if (request.in_float64) names.emplace_back(kInFloat64);
  if (request.as_written) return names;
  for (const auto& [option, value] : class_arguments_of(levers)) names.push_back(option);
  for (const Lever* const lever : levers) {
    if (!lever->hook.empty()) names.push_back(lever->hook);
  }
  return names;
}

/// What the hook says of a trial that runs: in one for losses at each step, else about once a
/// second.
class DiarySoFar {
 public:
  explicit DiarySoFar(std::string path) : path_(std::move(path)) {}

  ToldSoFar read() {
    std::error_code none;
    const auto written = fs::last_write_time(path_, none);
    if (!none && written != written_) {
      written_ = written;
      const Diary diary = parse_diary(read_all(path_));
      told_ = {diary.last_compiling_step,
               static_cast<std::int64_t>(diary.facts.gradient_norms.size())};
    }
    return told_;
  }

 private:
  std::string path_;
  fs::file_time_type written_ = {};
  ToldSoFar told_;
};

/// Of the GPU that is busy least. A loader that is waited for is known on the CPU too, of which the
/// diary says the rest.
StepShares shares_of(const diagnose::Signals& signals, const StepShares& of_cpu) {
  StepShares shares;
  shares.compute = signals.gpu_compute_ratio.value_or(0);
  if (shares.compute <= 0) shares = of_cpu;
  const double late = signals.launch_ratio.value_or(0) + signals.kernel_wait_ratio.value_or(0);
  shares.memory = signals.launch_ratio.value_or(0) * signals.allocation_ratio.value_or(0);
  shares.launches = late - shares.memory;
  shares.copies = signals.exposed_copy_ratio.value_or(0);
  shares.loading = signals.input_wait_ratio.value_or(0);
  if (shares.compute > 0) {
    const double products = signals.product_ratio.value_or(0);
    // What is neither known to be a product nor to move memory may be a product in float32.
    const double unknown = std::max(0.0, 1 - products - signals.memory_kernel_ratio.value_or(0));
    shares.products = shares.compute * products;
    shares.float_products = shares.compute * (signals.float_product_ratio.value_or(0) + unknown);
  }
  return shares;
}

/// The steps that the run's store has, behind the warm-up and without what compiling took in them.
void add_steps(const std::string& run_dir, bool changes_loader,
               const std::vector<trace::Interval>& compiling, TrialResult& result) {
  const auto examined = examine::examine_run(run_dir);
  if (!examined || !examined->measured) {
    result.ending = Ending::kTooFewSteps;
    result.why = !examined                   ? examined.error().message
                 : examined->remarks.empty() ? "too few steps; --trial-seconds makes trials longer"
                                             : examined->remarks.front();
    return;
  }
  if (changes_loader && !examined->fix.applied) {
    result.ending = Ending::kNotApplied;
    result.why = "the job's loader was left as it is: " +
                 (examined->fix.refused.empty() ? "the hook saw none" : examined->fix.refused);
    return;
  }
  const predict::RunMeasurement& measured = *examined->measured;
  const std::vector<double> steps_s = without_compiling(measured.steps_s, measured.when, compiling);
  result.steps_s = in_groups(steps_s);
  result.steps_of_each.assign(result.steps_s.size(),
                              static_cast<double>(size_of_group(steps_s.size())));
  result.mean_step_s = measured.mean_step_s;
  if (steps_s != measured.steps_s) {
    result.mean_step_s = mean(steps_s);
  }
  result.shares = shares_of(examined->diagnosis.signals, result.shares);
  result.steps_of_pass = measured.steps_of_pass.value_or(0);
  const trace::DataSet& data = examined->job.data;
  if (data.is_stream && data.workers_repeat.value_or(true)) {
    result.stream_workers =
        whole_number<std::int64_t>(examined->diagnosis.signals.num_workers.value_or(0));
  }
  if (measured.samples_per_s) {
    result.samples_per_step = *measured.samples_per_s * measured.mean_step_s;
    result.samples_are_rows = false;
    result.full_step_samples = measured.samples_of_full_step.value_or(0);
  }
}

/// On a GPU: what a step takes between two waits for it, without the first window, in which
/// libraries may still choose their algorithms.
void take_windows(const std::vector<Diary::Window>& windows, TrialResult& result) {
  if (windows.size() < kFewestWindows) return;
  double steps = 0;
  double seconds = 0;
  result.steps_s.clear();
  result.steps_of_each.clear();
  for (std::size_t i = 1; i < windows.size(); ++i) {
    result.steps_s.push_back(windows[i].step_s);
    result.steps_of_each.push_back(windows[i].steps);
    steps += windows[i].steps;
    seconds += windows[i].steps * windows[i].step_s;
  }
  result.mean_step_s = seconds / steps;
}

/// What compiling took behind the first step comes once as well.
void add_to_start(const std::vector<trace::Interval>& compiling, TrialResult& result) {
  for (const trace::Interval& compilation : compiling) {
    const double took_s = static_cast<double>(compilation.duration_ns()) * 1e-9;
    result.cold_s += std::max(0.0, took_s - result.mean_step_s);
  }
}

}  // namespace

std::vector<double> in_groups(const std::vector<double>& steps) {
  const std::size_t size = size_of_group(steps.size());
  if (size <= 1) return steps;
  std::vector<double> means;
  for (std::size_t from = 0; from + size <= steps.size(); from += size) {
    means.push_back(mean(std::span(steps).subspan(from, size)));
  }
  return means;
}

JobTrials::JobTrials(const launch::Installation& parts, JobTrialsOptions options, Journal* journal)
    : parts_(parts),
      options_(std::move(options)),
      journal_(journal),
      started_ns_(clock_.now_ns()) {}

std::vector<const Lever*> JobTrials::levers_of(const TrialRequest& request) const {
  std::vector<const Lever*> found;
  if (levers_ == nullptr) return found;
  for (const Lever& lever : *levers_) {
    for (const std::string& id : request.levers) {
      if (lever.id == id) found.push_back(&lever);
    }
  }
  return found;
}

std::string JobTrials::kind_of(const TrialRequest& request) const {
  const std::vector<const Lever*> levers = levers_of(request);
  const bool compiles = std::any_of(levers.begin(), levers.end(),
                                    [](const Lever* lever) { return lever->group == kCompilers; });
  const char* const parity = request.in_float64         ? "float64"
                             : request.parity_seed >= 0 ? "parity"
                                                        : "timed";
  return fmt::format("{} {} {:.0f}", compiles ? "compiled" : "plain", parity, request.times_longer);
}

/// Of one that was not made yet, as long as the longest plain one.
double JobTrials::expected_wall_s(const std::string& kind) const {
  const auto known = longest_wall_s_.find(kind);
  if (known != longest_wall_s_.end() && known->second > 0) return known->second;
  const auto plain = longest_wall_s_.find("plain timed 1");
  return plain != longest_wall_s_.end() ? plain->second : 0;
}

Result<TrialResult> JobTrials::run(const TrialRequest& request) {
  const std::string kind = kind_of(request);
  double& longest_s = longest_wall_s_[kind];
  const TrialResult* const known = journal_ != nullptr ? journal_->find(request.label) : nullptr;
  if (known != nullptr) {
    longest_s = std::max(longest_s, known->wall_s);
    return *known;
  }
  const double spent_s = static_cast<double>(clock_.now_ns() - started_ns_) * 1e-9;
  // A search that goes on makes one trial at least, however short its time.
  const bool is_bounded = options_.budget_s > 0;
  if (is_bounded && has_run_ && spent_s + expected_wall_s(kind) > options_.budget_s) {
    return fail(ErrorCode::kTimeout, "the budget of {:.1f} min ended", options_.budget_s / 60);
  }
  has_run_ = true;
  auto result = run_job(request);
  if (!result) return result;
  longest_s = std::max(longest_s, result->wall_s);
  if (journal_ == nullptr) return result;
  if (const Status kept = journal_->add(request.label, *result); !kept) return forward_error(kept);
  return result;
}

std::string JobTrials::asked_of_hook(const TrialRequest& request,
                                     const std::vector<const Lever*>& by_hook) const {
  nlohmann::json asked = {{"levers", nlohmann::json::parse(hook_levers(by_hook))}};
  if (request.in_float64) asked["levers"][kInFloat64] = nlohmann::json::object();
  if (request.survey) asked["survey"] = true;
  if (request.first_batch_again) asked["first_batch_again"] = true;
  if (request.parity_seed >= 0) {
    asked["parity"] = {{"steps", request.parity_steps}, {"seed", request.parity_seed}};
  }
  const std::string arguments = hook_arguments(options_.arguments, by_hook);
  if (!arguments.empty()) asked["arguments"] = nlohmann::json::parse(arguments);
  return asked.dump();
}

Result<trial::Trial> JobTrials::trial_of(const TrialRequest& request,
                                         const std::vector<const Lever*>& levers) const {
  trial::Trial trial;
  trial.label = request.label;
  trial.command = with_arguments(options_.command, levers);
  trial.run_dir = options_.folder + "/" + folder_name(request.label);
  trial.emulation = options_.emulation;
  trial.isolation = options_.isolation;
  trial.changes = request.changes;
  trial.length.seconds = options_.trial_seconds;
  auto& environment = trial.environment;
  advise::Application remedies;
  for (const Lever* const lever : levers) {
    if (lever->remedy) remedies = combined(remedies, *lever->remedy);
    environment.insert(environment.end(), lever->environment.begin(), lever->environment.end());
  }
  const advise::Application& told = request.as_written ? remedies.as_written() : remedies;
  for (auto& variable : told.environment()) environment.push_back(std::move(variable));
  if (remedies.needs_package) {
    auto path = python_path(parts_, options_.folder);
    if (!path) return forward_error(path);
    environment.emplace_back("PYTHONPATH", *std::move(path));
  }
  if (!options_.only_loaders) {
    environment.emplace_back("UNSTARVE_TUNE",
                             asked_of_hook(request, request.as_written ? kNoLevers : levers));
  } else if (request.survey) {
    environment.push_back(examine::worker_calibration_variable());
  }
  return trial;
}

Result<TrialResult> JobTrials::run_job(const TrialRequest& request) {
  const std::vector<const Lever*> levers = levers_of(request);
  const auto trial = trial_of(request, levers);
  if (!trial) return forward_error(trial);
  std::error_code none;
  fs::remove_all(trial->run_dir, none);  // what a kill left of the same trial
  DiarySoFar so_far(trial->run_dir + "/tune.json");
  TrialWatch watch(clock_, request, options_.trial_seconds, [&so_far] { return so_far.read(); });
  const std::int64_t began_ns = clock_.now_ns();
  const auto observed = trial::run_watched(parts_, *trial, [&](const observe::LiveView& view) {
    if (options_.on_tick) options_.on_tick(*trial, view);
    return watch.go_on(view);
  });
  if (!observed && observed.error().signal != 0) {
    return fail_by_signal(
        observed.error().signal,
        fmt::format("ended by a signal ({}) during '{}'; {}", ::strsignal(observed.error().signal),
                    request.label, options_.after_signal));
  }
  if (!observed) return forward_error(observed);
  const Diary diary = parse_diary(read_all(trial->run_dir + "/tune.json"));
  TrialResult result = diary.facts;
  result.wall_s = static_cast<double>(clock_.now_ns() - began_ns) * 1e-9;
  result.cold_s = watch.cold_s();
  result.given_up = watch.given_up();
  result.output_file = trial->output_file();
  result.remarks = trial::remarks_on(*observed, request.label);
  const ProcessEnd end = {observed->exit.exit_code, observed->exit.signal, observed->stopped_by_us,
                          watch.timed_out(), end_of(trial->output_file())};
  const Classified classified = classify(end, diary, hook_names(request, levers));
  result.ending = classified.ending;
  result.why = classified.why;
  if (result.ending == Ending::kMeasured && request.parity_seed < 0) {
    const bool changes_loader =
        !request.as_written && std::any_of(levers.begin(), levers.end(), [](const Lever* lever) {
          return lever->remedy.has_value();
        });
    add_steps(trial->run_dir, changes_loader, diary.compiling, result);
    take_windows(diary.windows, result);
    add_to_start(diary.compiling, result);
  }
  return result;
}

}  // namespace unstarve::tune
