#include "tune/search.h"

#include <algorithm>

#include "tune/asked_arguments.h"
#include "tune/batch/batch_search.h"
#include "tune/combination.h"
#include "tune/judging/speed.h"
#include "tune/lever_choice.h"
#include "tune/results_check.h"
#include "tune/screening.h"
#include "tune/trial_runner.h"
#include "tune/when_fed.h"

namespace unstarve::tune {

namespace {

class Search {
 public:
  Search(Trials& trials, const SearchOptions& options, SearchListener& listener)
      : options_(options), listener_(listener), runner_(trials, options, listener, result_) {}

  Result<TuneResult> run() {
    if (const Status based = measure_baseline(); !based) return forward_error(based);
    if (!options_.next) choose();
    Screening screening(runner_, fed_, results_check_, listener_, result_, opening_);
    Combination combination(runner_, results_check_, result_, screening.winners());
    Status done;
    if (options_.next) {
      done = combination.run({options_.next, [this](std::size_t at) { introduce(at); },
                              [this](std::size_t at) { listener_.judged(result_.levers[at]); }},
                             opening_);
    } else {
      done = screening.run();
      if (done) done = combination.run();
      withdraw_what_noise_hides();
    }
    result_.kept_run = combination.kept_run();
    std::vector<std::size_t> kept = combination.kept();
    if (done && !options_.next) done = search_for_batch(kept);
    if (!done) {
      // Where the job itself fails now and then, what is known so far is not lost.
      const ErrorCode code = done.error().code;
      if (code != ErrorCode::kTimeout && code != ErrorCode::kJobFailed) return forward_error(done);
      result_.unfinished = done.error().message;
      say_untried();
      const bool is_decided = combination.was_refused() || combination.was_confirmed();
      if (!is_decided) keep_the_best(screening.winners(), kept);
    }
    for (const std::size_t index : kept) {
      result_.levers[index].outcome = Outcome::kKept;
      result_.kept.push_back(result_.levers[index].lever.id);
    }
    const Status measured = measure_as_written(combination.beyond_chance());
    if (!measured) return forward_error(measured);
    result_.own_results = results_check_.own();
    put_noise_into_intervals();
    return std::move(result_);
  }

 private:
  Status measure_baseline() {
    TrialRequest first;
    first.label = options_.first_label;
    first.survey = true;
    auto before = runner_.make(first);
    if (!before) return forward_error(before);
    if (before->ending != Ending::kMeasured) {
      return fail(ErrorCode::kJobFailed, "the job as it is: {}: {}{}", to_string(before->ending),
                  before->why,
                  before->output_file.empty() ? "" : "; its output is " + before->output_file);
    }
    if (!before->surveyed && !options_.next) {
      return fail(ErrorCode::kNotSupported,
                  "the hook saw neither a step of an optimizer of PyTorch in this job nor a few "
                  "calls of a model: there is nothing that it could change");
    }
    result_.baseline = *before;
    runner_.begin_with(*before);
    TrialRequest second;
    second.label = options_.first_label + ".again";
    second.survey = !options_.next;
    second.until_known = is_short();
    auto again = runner_.make_measured(std::move(second));
    if (!again) return forward_error(again);
    result_.shares = {before->shares, again->shares};
    result_.baseline.shares = mean_of(result_.shares);
    listener_.noise(result_.noise_ratio);
    opening_ = *std::move(again);
    return measure_when_fed();
  }

  Status measure_when_fed() {
    if (!result_.baseline.loads || options_.next) return {};
    auto gain = fed_.measure(result_.baseline, opening_, result_.noise_ratio);
    if (!gain) return forward_error(gain);
    result_.when_fed = *gain;
    return {};
  }

  /// Where all that is tried is far from what chance does, a run without it ends when it is known.
  bool is_short() const { return static_cast<bool>(options_.next); }

  void introduce(std::size_t at) {
    all_.push_back(result_.levers[at].lever);
    listener_.has_levers(all_);
  }

  void choose() {
    result_.levers = choose_levers(result_.baseline, result_.shares, result_.when_fed, options_);
    for (const LeverResult& entry : result_.levers) all_.push_back(entry.lever);
    listener_.has_levers(all_);
    for (const LeverResult& entry : result_.levers) {
      if (!entry.is_pending()) listener_.judged(entry);
    }
  }

  /// What is proposed was held to the noise that was known then, perhaps of three runs; what is
  /// kept has been confirmed.
  void withdraw_what_noise_hides() {
    const double needed = threshold(result_.noise_ratio);
    for (LeverResult& entry : result_.levers) {
      if (!entry.is_proposed() || !entry.speedup || entry.speedup->low > needed) continue;
      entry.settle(Outcome::kWithinNoise, no_certain_gain(needed));
      listener_.judged(entry);
    }
  }

  /// All is decided: what is said is what a second search may find.
  void put_noise_into_intervals() {
    const auto widen = [this](std::optional<predict::Speedup>& speed) {
      if (speed) speed = with_noise(*speed, result_.noise_ratio);
    };
    for (LeverResult& entry : result_.levers) {
      widen(entry.speedup);
      widen(entry.speedup_when_fed);
    }
    widen(result_.best);
    widen(result_.when_fed);
  }

  /// Of those that ran, or were too small to be tried for the time that they save.
  std::vector<Lever> levers_for_memory(const std::vector<std::size_t>& kept) const {
    std::vector<Lever> found;
    for (std::size_t i = 0; i < result_.levers.size(); ++i) {
      const LeverResult& entry = result_.levers[i];
      const bool is_kept = std::find(kept.begin(), kept.end(), i) != kept.end();
      if (is_kept || !(entry.speedup || entry.too_small)) continue;
      if (entry.lever.saves_memory) found.push_back(entry.lever);
      if (entry.lever.makes_room) found.insert(found.begin(), entry.lever);
    }
    return found;
  }

  Status search_for_batch(const std::vector<std::size_t>& kept) {
    std::vector<std::string> ids;
    for (const std::size_t index : kept) ids.push_back(result_.levers[index].lever.id);
    const AskedArguments asked = settle_arguments(options_.arguments, result_.baseline);
    for (const Argument& argument : asked.known) {
      Lever named;
      named.id = argument.name;
      if (argument.name != kBatchArgument || !is_asked_for(named, options_)) continue;
      const std::size_t first = result_.levers.size();
      BatchRequest request;
      request.argument = as_kept(argument, result_.levers, kept);
      request.kept = ids;
      request.threshold = threshold(result_.noise_ratio);
      request.for_memory = levers_for_memory(kept);
      request.make = [this](TrialRequest trial) { return runner_.make(std::move(trial)); };
      request.introduce = [this](const Lever& lever) { all_.push_back(lever); };
      const Status done = search_batch(request, result_.levers);
      for (std::size_t i = first; i < result_.levers.size(); ++i) {
        listener_.judged(result_.levers[i]);
      }
      if (!done) return done;
    }
    return {};
  }

  void say_untried() {
    for (LeverResult& entry : result_.levers) {
      if (entry.is_pending()) entry.settle(Outcome::kNotMeasured, quoted(result_.unfinished));
    }
  }

  /// The hook may do what the text does not: what is promised of the change was measured of it.
  /// `opening`: a run of the job as it is that may be compared with; none: a new one is.
  Status measure_as_written(const std::optional<TrialResult>& opening) {
    const auto request = options_.write ? options_.write(result_) : std::nullopt;
    if (!request) return {};
    Comparison comparison;
    comparison.with = *request;
    comparison.without = runner_.request_for("as_written.after", {}, is_short());
    const auto anew = opening ? runner_.compare_behind(comparison, *opening)
                              : runner_.compare_anew(comparison, "as_written.before");
    ScriptPatch& patch = result_.patch;
    if (!anew) {
      const ErrorCode code = anew.error().code;
      if (code != ErrorCode::kTimeout && code != ErrorCode::kJobFailed) return forward_error(anew);
      patch.why_no_gain = {ReasonKind::kNotRunAsWritten, {}, {quoted(anew.error().message)}};
    } else if (anew->with.ending != Ending::kMeasured) {
      patch.diff.clear();
      patch.why_no_gain = {ReasonKind::kNoChangeAsWritten, {}, {anew->compared.why_not}};
    } else {
      patch.gain = with_noise(anew->compared.speedup, result_.noise_ratio);
      patch.runs = anew->compared.runs;
      return compare_as_written(*request);
    }
    return {};
  }

  Status compare_as_written(TrialRequest request) {
    std::vector<Lever> kept;
    for (const LeverResult& entry : result_.levers) {
      if (entry.is_kept()) kept.push_back(entry.lever);
    }
    if (kept.empty()) return {};
    request.label += ".losses";
    const auto verdict = results_check_.compare(as_one(kept), std::move(request));
    if (!verdict) {
      // With the hook the results were compared.
      const bool no_time = verdict.error().code == ErrorCode::kTimeout;
      return no_time ? Status() : forward_error(verdict);
    }
    if (verdict->parity != Parity::kFailed) return {};
    ScriptPatch& patch = result_.patch;
    patch.diff.clear();
    patch.gain.reset();
    const Reason other = {ReasonKind::kOtherResults, {}, {verdict->why}};
    patch.why_no_gain = {ReasonKind::kNoChangeAsWritten, {}, {other}};
    return {};
  }

  /// What was not compared with the others cannot be kept beside them, but the best one can.
  void keep_the_best(const std::vector<Winner>& winners, std::vector<std::size_t>& kept) {
    if (kept.empty() && !winners.empty()) {
      const auto best =
          std::max_element(winners.begin(), winners.end(),
                           [](const Winner& a, const Winner& b) { return a.speedup < b.speedup; });
      kept = {best->index};
      result_.levers[best->index].settle(Outcome::kFaster, ReasonKind::kFaster);
    }
    if (kept.size() == 1) result_.best = result_.levers[kept.front()].speedup;
    if (kept.size() > 1) result_.best.reset();  // together they were not measured against the job
  }

  const SearchOptions& options_;
  SearchListener& listener_;
  TuneResult result_;
  TrialRunner runner_;
  std::vector<Lever> all_;
  TrialResult opening_;  // the last run of the job as it is
  WhenFed fed_{[this](TrialRequest request) { return runner_.make(std::move(request)); }};
  ResultsCheck results_check_{options_.next ? ResultsCheck::Make() : [this](TrialRequest request) {
    return runner_.make(std::move(request));
  }};
};

}  // namespace

Result<TuneResult> search(Trials& trials, const SearchOptions& options, SearchListener& listener) {
  return Search(trials, options, listener).run();
}

}  // namespace unstarve::tune
