#include "tune/remedies.h"

#include <algorithm>
#include <utility>

#include "examine/calibration/calibrate.h"
#include "examine/history/trial_dirs.h"
#include "launch/job_python.h"

namespace unstarve::tune {

namespace {

bool holds(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool gains_too_little(const advise::Remedy& remedy) {
  return remedy.predicted && remedy.predicted->speedup < trial::kWorthKeeping;
}

trial::Outcome outcome_of(const LeverResult& entry) {
  if (entry.outcome == Outcome::kFaster) return trial::Outcome::kKept;
  return entry.outcome == Outcome::kSlower ? trial::Outcome::kSlower : trial::Outcome::kNotKept;
}

/// The words of others that a reason rests on.
std::string quoted_in(const Reason& why) {
  for (const Fact& fact : why.facts) {
    if (fact.name == "text") return std::get<std::string>(fact.value);
  }
  return why.because.empty() ? "" : quoted_in(why.because.front());
}

/// Its runs, and what they say.
examine::ListedTrial listed(const std::string& id, const RunsCompared& runs,
                            const predict::Speedup& measured, trial::Outcome outcome) {
  examine::ListedTrial trial;
  trial.remedy = id;
  trial.opening = runs.opening;
  trial.again = runs.again;
  if (runs.with != id) trial.run = runs.with;
  trial.measured = measured;
  trial.outcome = to_string(outcome);
  return trial;
}

}  // namespace

/// Which to try first: what is sure to gain before what is not; of these what is predicted to gain
/// most, of two the surer one; then what nothing is predicted of, by effort.
bool Remedies::comes_before(const Candidate& a, const Candidate& b) {
  if (a.is_sure != b.is_sure) return a.is_sure;
  const Reading<predict::Speedup>& gain = a.remedy.predicted;
  const Reading<predict::Speedup>& other = b.remedy.predicted;
  if (gain.has_value() != other.has_value()) return gain.has_value();
  if (!gain) return false;
  if ((*gain).speedup != (*other).speedup) return (*gain).speedup > (*other).speedup;
  return (*gain).low > (*other).low;
}

Status Remedies::read_first_run() {
  auto before = examine::examine_run(examine::trial_dir(folder_, examine::kBefore));
  if (!before) return forward_error(before);
  if (!before->measured) {
    return fail(ErrorCode::kNotSupported, "{}: too few steps", examine::kBefore);
  }
  examine::predict_calibrated(*before);
  job_.emplace(trial::TriedJob{*std::move(before), {}});
  runs_.emplace(folder_, job_->before);
  base_ = examine::kBefore;
  return {};
}

Result<std::optional<Lever>> Remedies::next(const std::vector<std::string>& kept) {
  if (!job_) {
    if (const Status read = read_first_run(); !read) return forward_error(read);
  }
  if (kept.size() > kept_.size() && runs_->find(kept.back()) != nullptr) {
    base_ = kept.back();
    examine::predict_calibrated(*runs_->find(base_));
  }
  kept_ = kept;
  runs_->forget_all_but(base_);
  const std::optional<Candidate> best = choose();
  if (!best) {
    if (offered_.empty()) listener_.has_nothing_to_try(job_->before);
    say_not_tried();
    return std::optional<Lever>();
  }
  Lever lever;
  lever.id = best->entry->id;
  lever.what = best->application.change;
  lever.eases = Eases::kLoading;
  lever.remedy = offered_[lever.id] = best->application;
  return std::optional(std::move(lever));
}

/// The next remedy to try on what is kept so far. On top of a remedy that was kept only what is
/// predicted to help further. What is likelier to gain than not, but not sure to, is not advised;
/// it is tried when nothing is left that is.
std::optional<Remedies::Candidate> Remedies::choose() {
  std::optional<Candidate> best;
  for (const advise::CatalogueEntry& entry : advise::catalogue()) {
    if (!entry.apply || offered_.count(entry.id) != 0) continue;
    const advise::Advice& advice = base().advice;
    const advise::Remedy* const sure = advice.find(entry.id);
    const advise::Remedy* const remedy = sure ? sure : advice.find_worth_a_trial(entry.id);
    if (remedy == nullptr || (!kept_.empty() && !remedy->predicted)) continue;
    if (gains_too_little(*remedy)) continue;
    const auto application = entry.apply(*remedy);
    if (!application) continue;
    const Candidate candidate = {&entry, *remedy, *application, sure != nullptr};
    if (!best || comes_before(candidate, *best)) best = candidate;
  }
  return best;
}

void Remedies::leave_out(const std::string& id, Reason why) const {
  LeverResult entry;
  entry.lever.id = id;
  entry.settle(Outcome::kNotApplicable, std::move(why));
  listener_.left_out(entry);
}

void Remedies::say_not_tried() const {
  for (const advise::CatalogueEntry& entry : advise::catalogue()) {
    if (offered_.count(entry.id) != 0) continue;
    if (Reason why = why_not_tried(entry)) leave_out(entry.id, std::move(why));
  }
}

/// None: it is not worth a word.
Reason Remedies::why_not_tried(const advise::CatalogueEntry& entry) const {
  const advise::Remedy* const advised = job_->before.advice.find(entry.id);
  if (advised == nullptr) {
    const auto& gains = job_->before.predictions.gains;
    if (const auto gain = gains.find(entry.id); gain != gains.end()) {
      return {ReasonKind::kNotSureToGain, {{"predicted", gain->second}}};
    }
    return entry.apply && entry.model ? Reason(ReasonKind::kNotAdvised) : Reason();
  }
  if (!entry.apply || !entry.apply(*advised)) return quoted(entry.why_not_tried);
  if (gains_too_little(*advised)) return ReasonKind::kGainsTooLittle;
  if (kept_.empty()) return {};
  return {ReasonKind::kGainsNothingBeside, {{"lever", kept_.back()}}};
}

LoaderChange Remedies::change_of(const examine::Examination& after,
                                 const std::vector<std::string>& ids) const {
  advise::Application applied;
  for (const std::string& id : ids) applied = combined(applied, offered_.at(id));
  return loader_change(job_->before, after, applied);
}

void Remedies::ended(const TrialRequest& request, const TrialResult& result) {
  trial::Trial trial;
  trial.label = request.label;
  listener_.ended(trial);
  remarks_.insert(remarks_.end(), result.remarks.begin(), result.remarks.end());
}

void Remedies::judged(const LeverResult& entry) {
  const bool proves_nothing =
      entry.outcome == Outcome::kNotMeasured || entry.outcome == Outcome::kOtherWork;
  if (!entry.on_top || proves_nothing) return listener_.left_out(entry);
  examine::ListedTrial trial =
      listed(entry.lever.id, entry.on_top->runs, entry.on_top->speedup, outcome_of(entry));
  trial.how = entry.lever.what;
  trial.base = base_;
  std::vector<std::string> ids = kept_;
  ids.push_back(entry.lever.id);
  if (const examine::Examination* const after = runs_->find(entry.on_top->runs.with)) {
    trial.permanent = in_words(change_of(*after, ids), job_->before.job.loader_place);
  }
  if (auto tried = runs_->verified(trial)) add(trial, *std::move(tried));
}

void Remedies::add(const examine::ListedTrial& trial, trial::Verification tried) {
  list_.push_back(trial);
  listener_.measured(tried);
  job_->verification.push_back(std::move(tried));
  static_cast<void>(examine::write_trial_list(folder_, list_));  // conclude() says it
}

std::optional<TrialRequest> Remedies::write(TuneResult& result) {
  const bool has_run = job_ && !result.kept.empty();
  const examine::Examination* const after = has_run ? runs_->find(result.kept_run) : nullptr;
  if (after == nullptr) return std::nullopt;
  auto written =
      written_change(launch::find_job_python("", command_).program, job_->before.job.loader_file,
                     job_->before.job.loader_place, change_of(*after, result.kept));
  if (!written) return std::nullopt;
  if (written->diff.empty()) {
    why_no_diff_ = written->refused.front();
    return std::nullopt;
  }
  ScriptPatch& patch = result.patch;
  patch.path = std::move(written->path);
  patch.text = std::move(written->text);
  patch.diff = std::move(written->diff);
  patch.from_root = written->from_root;
  if (!isolation_.can_change_files()) {
    patch.why_no_gain = {ReasonKind::kNotRunAsWritten, {}, {quoted(isolation_.why_files_stay())}};
    return std::nullopt;
  }
  TrialRequest request;
  request.label = examine::kAsWritten;
  request.levers = result.kept;
  request.as_written = true;
  request.changes = {{patch.path, patch.text}};
  return request;
}

Result<trial::TriedJob> Remedies::conclude(const TuneResult& found) && {
  if (!job_) {
    if (const Status read = read_first_run(); !read) return forward_error(read);
  }
  take_back_what_is_not_kept(found);
  add_written(found);
  std::vector<std::string>& remarks = job_->before.remarks;
  remarks.insert(remarks.end(), remarks_.begin(), remarks_.end());
  if (!found.unfinished.empty()) remarks.push_back("the trials ended early: " + found.unfinished);
  if (!list_.empty()) {
    const Status kept = examine::write_trial_list(folder_, list_);
    if (!kept) return forward_error(kept);
  }
  return *std::move(job_);
}

/// What was faster at first, and not beside others or not again.
void Remedies::take_back_what_is_not_kept(const TuneResult& found) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    trial::Verification& tried = job_->verification[i];
    if (tried.outcome != trial::Outcome::kKept || holds(found.kept, tried.remedy)) continue;
    settle(tried, tried.measured, trial::Outcome::kNotKept);
    list_[i].outcome = to_string(tried.outcome);
    for (const LeverResult& entry : found.levers) {
      if (entry.lever.id == tried.remedy) listener_.left_out(entry);
    }
  }
}

/// The trial of the script with the change in it: what is promised of the diff was measured of it.
void Remedies::add_written(const TuneResult& found) {
  if (found.kept.empty()) return;
  std::size_t last = list_.size();
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (list_[i].remedy == found.kept.back()) last = i;
  }
  if (last == list_.size()) return;
  const ScriptPatch& patch = found.patch;
  if (patch.why_no_gain) leave_out(examine::kAsWritten, patch.why_no_gain);
  if (patch.why_no_gain.kind == ReasonKind::kNoChangeAsWritten) {
    take_back_written(last, patch.why_no_gain);
  } else if (patch.gain) {
    examine::ListedTrial trial =
        listed(examine::kAsWritten, patch.runs, *patch.gain, trial::outcome_of(*patch.gain));
    trial.how = list_[last].how;
    trial.base = examine::kBefore;
    trial.permanent = list_[last].permanent;
    trial.diff = patch.diff;
    auto tried = runs_->verified(trial);
    if (!tried) return;
    inherit_prediction(job_->verification, *tried);
    tried->diff_from_root = patch.from_root;
    add(trial, *std::move(tried));
  } else if (!patch.diff.empty()) {
    list_[last].diff = job_->verification[last].diff = patch.diff;
    job_->verification[last].diff_from_root = patch.from_root;
  } else if (!why_no_diff_.empty()) {
    list_[last].permanent = job_->verification[last].permanent +=
        "; no diff is given: " + why_no_diff_;
  }
}

/// The change that helped in a trial is none for the script.
void Remedies::take_back_written(std::size_t last, const Reason& why) {
  list_[last].permanent = job_->verification[last].permanent =
      "none: with " + list_[last].permanent + ", written into the script, " + quoted_in(why);
}

}  // namespace unstarve::tune
