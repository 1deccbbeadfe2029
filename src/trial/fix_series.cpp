#include "trial/fix_series.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>
#include <utility>

#include "advise/catalogue.h"
#include "examine/calibration/calibrate.h"
#include "examine/history/trial_dirs.h"
#include "examine/history/trial_list.h"
#include "launch/job_python.h"
#include "launch/watching/observed_job.h"
#include "predict/speedup.h"
#include "trial/loader_change.h"

namespace unstarve::trial {

namespace {

/// unstarve's package, before what the job's own variable says.
Result<std::string> python_path(const launch::Installation& parts, const std::string& folder) {
  auto ours = launch::lone_package_dir(parts, folder + "/package");
  const char* theirs = std::getenv("PYTHONPATH");
  if (ours && theirs != nullptr && *theirs != '\0') *ours += std::string(":") + theirs;
  return ours;
}

/// A remedy that the hook can apply, as one run advises it.
struct Candidate {
  const advise::CatalogueEntry* entry = nullptr;
  advise::Remedy remedy;
  advise::Application application;
  bool is_sure = true;  // advised; else only likelier to gain than not
};

/// Which to try first: what is sure to gain before what is not; of these what is predicted to gain
/// most, of two the surer one; then what nothing is predicted of, by effort.
bool comes_before(const Candidate& a, const Candidate& b) {
  if (a.is_sure != b.is_sure) return a.is_sure;
  const Reading<predict::Speedup>& gain = a.remedy.predicted;
  const Reading<predict::Speedup>& other = b.remedy.predicted;
  if (gain.has_value() != other.has_value()) return gain.has_value();
  if (!gain) return false;
  if ((*gain).speedup != (*other).speedup) return (*gain).speedup > (*other).speedup;
  return (*gain).low > (*other).low;
}

class FixSeries {
 public:
  FixSeries(const launch::Installation& parts, const FixOptions& options, TrialListener& listener)
      : parts_(parts), options_(options), listener_(listener) {}

  Result<TriedJob> run() {
    auto isolation =
        isolation::Isolation::choose(options_.command, options_.folder, options_.isolation);
    if (!isolation) return forward_error(isolation);
    isolation_.emplace(*std::move(isolation));
    listener_.isolated(*isolation_);
    auto before = run_one(examine::kBefore, {examine::worker_calibration_variable()});
    if (!before) return forward_error(before);
    examine::predict_calibrated(*before);
    TriedJob job{*std::move(before), {}};
    for (std::optional<Candidate> next = choose(job); next; next = choose(job)) {
      if (const Status tried = try_one(*next, job); !tried) return forward_error(tried);
    }
    for (const advise::CatalogueEntry& entry : advise::catalogue()) say_not_tried(entry, job);
    if (const Status tried = try_written(job); !tried) return forward_error(tried);
    return job;
  }

 private:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  const examine::Examination& base(const TriedJob& job) const {
    return kept_ ? *kept_ : job.before;
  }

  Trial trial_of(const std::string& label, const Environment& environment) const {
    Trial trial;
    trial.label = label;
    trial.command = options_.command;
    trial.environment = environment;
    trial.run_dir = examine::trial_dir(options_.folder, label);
    trial.emulation = options_.emulation;
    trial.isolation = &*isolation_;
    trial.length.seconds = options_.trial_seconds;
    return trial;
  }

  Result<examine::Examination> run_one(const std::string& label, const Environment& environment) {
    return run_trial(parts_, trial_of(label, environment), listener_);
  }

  /// The next remedy to try on what holds so far. On top of a remedy that was kept only what is
  /// predicted to help further. What is likelier to gain than not, but not sure to, is not advised;
  /// it is tried when nothing is left that is.
  std::optional<Candidate> choose(const TriedJob& job) const {
    std::optional<Candidate> best;
    for (const advise::CatalogueEntry& entry : advise::catalogue()) {
      if (!entry.apply || tried_.count(entry.id) != 0) continue;
      const advise::Advice& advice = base(job).advice;
      const advise::Remedy* const sure = advice.find(entry.id);
      const advise::Remedy* const remedy = sure ? sure : advice.find_worth_a_trial(entry.id);
      if (remedy == nullptr || (kept_ && !remedy->predicted)) continue;
      if (gains_too_little(*remedy)) continue;
      const auto application = entry.apply(*remedy);
      if (!application) continue;
      const Candidate candidate = {&entry, *remedy, *application, sure != nullptr};
      if (!best || comes_before(candidate, *best)) best = candidate;
    }
    return best;
  }

  static bool gains_too_little(const advise::Remedy& remedy) {
    return remedy.predicted && remedy.predicted->speedup < kWorthKeeping;
  }

  void say_not_tried(const advise::CatalogueEntry& entry, const TriedJob& job) {
    if (tried_.count(entry.id) != 0) return;
    if (job.before.advice.find(entry.id) == nullptr) {
      // What is not tried by itself anyway is not worth a word.
      const auto gain = job.before.predictions.gains.find(entry.id);
      if (gain != job.before.predictions.gains.end()) {
        listener_.not_tried(entry.id,
                            "it is not sure to gain: predicted " + speedup_words(gain->second));
      } else if (entry.apply && entry.model) {
        listener_.not_tried(entry.id, "the diagnosis does not advise it");
      }
    } else if (entry.apply && gains_too_little(*job.before.advice.find(entry.id))) {
      listener_.not_tried(entry.id, "it is predicted to gain less than is worth keeping");
    } else if (!entry.apply) {
      if (!entry.why_not_tried.empty()) listener_.not_tried(entry.id, entry.why_not_tried);
    } else if (kept_) {
      listener_.not_tried(
          entry.id, "beside " + kept_label_ + ", which was kept, it is not predicted to gain");
    }
  }

  Result<Environment> environment_of(const advise::Application& application) const {
    Environment environment = application.environment();
    if (application.needs_package) {
      const auto path = python_path(parts_, options_.folder);
      if (!path) return forward_error(path);
      environment.emplace_back("PYTHONPATH", *path);
    }
    return environment;
  }

  /// Runs the job with the remedy, and then once more without it: a machine that has become slower
  /// or faster meanwhile would otherwise be taken for the remedy's doing.
  Status try_one(const Candidate& candidate, TriedJob& job) {
    const std::string id = candidate.entry->id;
    tried_.insert(id);
    const advise::Application applied = combined(applied_, candidate.application);
    listener_.begins(id, applied.change);
    const auto environment = environment_of(applied);
    if (!environment) return forward_error(environment);
    auto after = run_one(id, *environment);
    if (!after) return forward_error(after);
    if (!after->fix.applied) {
      listener_.not_tried(
          id, "the job's loader was left as it is: " +
                  (after->fix.refused.empty() ? "the hook saw none" : after->fix.refused));
      return {};
    }
    auto again = run_again(id);
    if (!again && again.error().signal != 0) return forward_error(again);
    const examine::Examination& opening = opening_ ? *opening_ : base(job);
    Verification tried = verify({base(job), opening, *after, again ? &*again : nullptr}, id,
                                candidate.application.change);
    tried.base = kept_ ? kept_label_ : examine::kBefore;
    const LoaderChange change = loader_change(job.before, *after, applied);
    tried.permanent = in_words(change, job.before.job.loader_place);
    list_.push_back({id, tried.how, tried.base, opening_label_, again ? again_label(id) : "",
                     tried.permanent, ""});
    listener_.measured(tried);
    const bool kept = tried.outcome == Outcome::kKept;
    job.verification.push_back(std::move(tried));
    if (kept) {
      last_kept_ = list_.size() - 1;
      write(change, job);
      keep(id, applied, *std::move(after));
    } else if (again) {
      opening_ = *std::move(again);
      opening_label_ = again_label(id);
    }
    return examine::write_trial_list(options_.folder, list_);
  }

  /// What keeps the change of the trial that was tried last, in the script; why nothing does.
  void write(const LoaderChange& change, TriedJob& job) {
    written_ = written_change(launch::find_job_python("", options_.command).program,
                              job.before.job.loader_file, job.before.job.loader_place, change);
    if (!written_ || !written_->diff.empty()) return;
    const std::string& why = written_->refused.front();
    list_.back().permanent = job.verification.back().permanent += "; no diff is given: " + why;
    written_.reset();
  }

  static std::string again_label(const std::string& id) { return id + ".again"; }

  /// What holds so far, until its mean step is known: a run as long as the first is not needed to
  /// tell whether the machine is what it was.
  Result<examine::Examination> run_again(const std::string& id) {
    const auto environment = environment_of(applied_);
    if (!environment) return forward_error(environment);
    return run_until_known(again_label(id), *environment);
  }

  Result<examine::Examination> run_until_known(const std::string& label,
                                               const Environment& environment) {
    Trial trial = trial_of(label, environment);
    trial.length.until_known = true;
    return run_trial(parts_, trial, listener_);
  }

  /// Once more with nothing but the diff, in the script as this trial finds it: the hook may do
  /// what the diff does not, and what is promised of the diff is what was measured of it.
  Status try_written(TriedJob& job) {
    if (!kept_ || !written_) return {};
    if (!isolation_->can_change_files()) {
      listener_.not_tried(examine::kAsWritten, isolation_->why_files_stay() +
                                                   ", so that the change is given as it was tried");
      return give_diff(job);
    }
    listener_.begins(examine::kAsWritten, "the change written into " + written_->path);
    Environment environment;
    if (applied_.needs_package) {
      const auto path = python_path(parts_, options_.folder);
      if (!path) return forward_error(path);
      environment.emplace_back("PYTHONPATH", *path);
    }
    Trial trial = trial_of(examine::kAsWritten, environment);
    trial.changes = {{written_->path, written_->text}};
    const auto after = run_trial(parts_, trial, listener_);
    if (!after && after.error().signal != 0) return forward_error(after);
    if (!after) return take_back(after.error().message, job);
    const auto again = run_until_known(again_label(examine::kAsWritten), {});
    if (!again && again.error().signal != 0) return forward_error(again);
    Verification tried = verify({job.before, job.before, *after, again ? &*again : nullptr},
                                examine::kAsWritten, list_[last_kept_].how);
    inherit_prediction(job.verification, tried);
    tried.permanent = list_[last_kept_].permanent;
    tried.diff = written_->diff;
    tried.diff_from_root = written_->from_root;
    list_.push_back({examine::kAsWritten, tried.how, examine::kBefore, examine::kBefore,
                     again ? again_label(examine::kAsWritten) : "", tried.permanent, tried.diff});
    listener_.measured(tried);
    job.verification.push_back(std::move(tried));
    return examine::write_trial_list(options_.folder, list_);
  }

  /// The change that helped in a trial is none for the script.
  Status take_back(const std::string& why, TriedJob& job) {
    listener_.not_tried(examine::kAsWritten, why);
    list_[last_kept_].permanent = job.verification[last_kept_].permanent =
        "none: with " + list_[last_kept_].permanent + ", written into the script, " + why;
    return examine::write_trial_list(options_.folder, list_);
  }

  /// The diff to the trial that was kept last.
  Status give_diff(TriedJob& job) {
    Verification& kept = job.verification[last_kept_];
    list_[last_kept_].diff = kept.diff = written_->diff;
    kept.diff_from_root = written_->from_root;
    return examine::write_trial_list(options_.folder, list_);
  }

  void keep(const std::string& id, const advise::Application& applied, examine::Examination after) {
    applied_ = applied;
    kept_ = std::move(after);
    kept_label_ = opening_label_ = id;
    opening_.reset();
    examine::predict_calibrated(*kept_);
  }

  const launch::Installation& parts_;
  const FixOptions& options_;
  TrialListener& listener_;
  std::optional<isolation::Isolation> isolation_;
  std::set<std::string> tried_;
  advise::Application applied_;                  // by all that was kept
  std::optional<examine::Examination> kept_;     // the run with that; none: nothing was
  std::string kept_label_;                       // the last of it
  std::optional<examine::Examination> opening_;  // the last run of that setting; none: the first
  std::string opening_label_ = examine::kBefore;
  std::vector<examine::ListedTrial> list_;  // of the verifications, in their order
  std::size_t last_kept_ = 0;               // which of these; where any was
  std::optional<script::EditedScript>
      written_;  // what keeps all that was kept; none: only words do
};

}  // namespace

Result<TriedJob> run_fix_series(const launch::Installation& parts, const FixOptions& options,
                                TrialListener& listener) {
  return FixSeries(parts, options, listener).run();
}

}  // namespace unstarve::trial
