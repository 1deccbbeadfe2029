#include "tune/search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "tune/asked_arguments.h"
#include "tune/batch/batch_search.h"
#include "tune/judging/memory.h"
#include "tune/judging/promise.h"
#include "tune/judging/speed.h"
#include "tune/lever_choice.h"
#include "tune/results_check.h"
#include "tune/when_fed.h"

namespace unstarve::tune {

namespace {

constexpr double kFirstStepTimes = 10;  // as long as the first step of the job as it is
constexpr double kFirstStepAtLeastS = 60;
constexpr double kCompiledWithinS = 300;
constexpr double kMuchFaster = 1.1;
constexpr double kNearly = 0.95;  // as fast, by itself
constexpr double kFewestParitySteps = 20;
constexpr double kMostParitySteps = 200;

/// A lever that was faster by itself.
struct Winner {
  std::size_t index = 0;  // of TuneResult::levers
  double speedup = 1;
  TrialResult run;
};

class Search {
 public:
  Search(Trials& trials, const SearchOptions& options, SearchListener& listener)
      : trials_(trials), options_(options), listener_(listener) {}

  Result<TuneResult> run() {
    if (const Status based = measure_baseline(); !based) return forward_error(based);
    choose();
    Status done = screen();
    if (done) done = combine();
    if (done) done = try_uncertain();
    if (done) done = leave_one_out();
    if (done) done = try_in_place();
    if (done) done = confirm();
    if (done) done = search_for_batch();
    if (!done) {
      if (done.error().code != ErrorCode::kTimeout) return forward_error(done);
      result_.unfinished = done.error().message;
      say_untried();
    }
    for (const std::size_t index : kept_) {
      result_.levers[index].kept = true;
      result_.kept.push_back(result_.levers[index].lever.id);
    }
    result_.losses_remark = results_check_.remark();
    return std::move(result_);
  }

 private:
  Result<TrialResult> make(TrialRequest request) {
    ++result_.trials;
    if (result_.baseline.cold_s > 0) {
      request.first_step_within_s = std::max({request.first_step_within_s, kFirstStepAtLeastS,
                                              kFirstStepTimes * result_.baseline.cold_s});
    }
    if (request.parity_seed >= 0 && request.parity_steps == 0) {
      request.parity_steps = parity_steps();
    }
    listener_.begins(request, result_.trials);
    return trials_.run(request);
  }

  double noise() const { return result_.noise_ratio; }

  int parity_steps() const {
    if (options_.parity_steps > 0) return options_.parity_steps;
    const double fit = 2 * options_.trial_seconds / result_.baseline.mean_step_s;
    return static_cast<int>(std::clamp(fit, kFewestParitySteps, kMostParitySteps));
  }

  Result<TrialResult> make(const std::string& label, const std::vector<std::string>& levers,
                           bool until_known) {
    TrialRequest request;
    request.label = label;
    request.levers = levers;
    request.until_known = until_known;
    if (!until_known && !levers.empty()) request.baseline_step_s = result_.baseline.mean_step_s;
    return make(std::move(request));
  }

  /// A run that has to be measured: the job without a lever, or with what is kept.
  Result<TrialResult> make_measured(const std::string& label,
                                    const std::vector<std::string>& levers, bool until_known) {
    auto made = make(label, levers, until_known);
    if (made && made->ending != Ending::kMeasured) {
      return fail(ErrorCode::kJobFailed, "{}: {}{}{}", label, to_string(made->ending),
                  made->why.empty() ? "" : ": ", made->why);
    }
    if (made && levers.empty()) {
      as_it_is_s_.push_back(made->mean_step_s);
      result_.noise_ratio = noise_among(as_it_is_s_);
    }
    return made;
  }

  Status measure_baseline() {
    TrialRequest first;
    first.label = "baseline";
    first.survey = true;
    auto before = make(first);
    if (!before) return forward_error(before);
    if (before->ending != Ending::kMeasured) {
      return fail(ErrorCode::kJobFailed, "the job as it is: {}: {}", to_string(before->ending),
                  before->why);
    }
    if (!before->surveyed) {
      return fail(ErrorCode::kNotSupported,
                  "the hook saw neither a step of an optimizer of PyTorch in this job nor a few "
                  "calls of a model: there is nothing that it could change");
    }
    result_.baseline = *before;
    as_it_is_s_ = {before->mean_step_s};
    auto again = make_measured("baseline.again", {}, false);
    if (!again) return forward_error(again);
    listener_.noise(result_.noise_ratio);
    opening_ = *std::move(again);
    return measure_when_fed();
  }

  Status measure_when_fed() {
    if (!result_.baseline.loads) return {};
    auto gain = fed_.measure(result_.baseline, opening_);
    if (!gain) return forward_error(gain);
    result_.when_fed = *gain;
    return {};
  }

  void choose() {
    result_.levers = choose_levers(result_.baseline, result_.when_fed, options_);
    for (const LeverResult& entry : result_.levers) all_.push_back(entry.lever);
    listener_.has_levers(all_);
    for (const LeverResult& entry : result_.levers) {
      if (!entry.why.empty()) listener_.judged(entry);
    }
  }

  Status screen() {
    for (std::size_t i = 0; i < result_.levers.size(); ++i) {
      LeverResult& entry = result_.levers[i];
      if (!entry.why.empty()) continue;
      if (is_variant_of_slower(entry)) {
        entry.why = entry.lever.variant_of + " is slower, of which it is a variant";
      } else if (const Status done = screen_one(i); !done) {
        return done;
      }
      listener_.judged(result_.levers[i]);
    }
    std::stable_sort(winners_.begin(), winners_.end(),
                     [](const Winner& a, const Winner& b) { return a.speedup > b.speedup; });
    return {};
  }

  bool is_variant_of_slower(const LeverResult& entry) const {
    return std::any_of(result_.levers.begin(), result_.levers.end(), [&](const LeverResult& one) {
      return one.lever.id == entry.lever.variant_of && one.speedup && one.speedup->high < 1;
    });
  }

  Status screen_one(std::size_t index) {
    LeverResult& entry = result_.levers[index];
    const std::string& id = entry.lever.id;
    TrialRequest request;
    request.label = id;
    request.levers = {id};
    // A step of a larger batch takes longer, and is not slower for it.
    const bool changes = entry.lever.numerics == Numerics::kTrajectory;
    request.baseline_step_s = changes ? 0 : result_.baseline.mean_step_s;
    if (entry.lever.group == kCompilers) request.first_step_within_s = kCompiledWithinS;
    auto with = make(std::move(request));
    if (!with) return forward_error(with);
    entry.tried = true;
    entry.cold_s = with->cold_s;
    entry.peak_memory_bytes = with->peak_memory_bytes;
    entry.latency = with->latency;
    if (with->ending != Ending::kMeasured) {
      entry.why = fmt::format("{}: {}", to_string(with->ending), with->why);
      entry.parity = with->ending == Ending::kNotFinite ? Parity::kFailed : Parity::kNotObserved;
      return {};
    }
    if (!opening_is_old_ && !changes && is_slower_beyond_doubt(opening_, *with, noise())) {
      opening_is_old_ = true;
      return judge(entry, *with, opening_, opening_);
    }
    auto again = make_measured(id + ".without", {}, true);
    if (!again) return forward_error(again);
    const Status judged = judge(entry, *with, opening_, *again);
    opening_ = *std::move(again);
    opening_is_old_ = false;
    if (judged && entry.why.empty()) {
      winners_.push_back({index, entry.speedup->speedup, *std::move(with)});
      entry.why = "faster by itself";
    }
    return judged;
  }

  /// Leaves entry.why empty where the lever may be kept.
  Status judge(LeverResult& entry, const TrialResult& with, const TrialResult& before,
               const TrialResult& again) {
    const bool changes = entry.lever.numerics == Numerics::kTrajectory;
    const bool known = with.samples_per_step > 0 && before.samples_per_step > 0;
    if (!known && (changes || entry.lever.numerics == Numerics::kRegrouped)) {
      entry.why = "it changes what a step is, and the samples of a step are not known";
      return {};
    }
    entry.why = too_much_memory(before, with);
    if (entry.why.empty()) entry.why = skipped_steps(before, with);
    if (!entry.why.empty()) return {};
    if (!changes) entry.why = less_work(before, with, entry.lever.passes_ratio);
    if (!entry.why.empty()) {
      entry.parity = Parity::kFailed;
      return {};
    }
    entry.speedup = speedup_between(before, with, again, changes);
    entry.pays_off_steps = steps_to_pay_off(result_.baseline, before, with);
    if (entry.lever.saves_memory) {
      entry.why = memory_for_time(before, with, *entry.speedup);
      return {};
    }
    const double needed = threshold(result_.noise_ratio);
    if (entry.speedup->high < 1) {
      entry.why = with.given_up ? "slower; it was ended early" : "slower";
    } else if (entry.speedup->low <= needed) {
      entry.why = fmt::format("no gain above {:.1f} % is certain", 100 * (needed - 1));
      return fed_.judge(entry, result_.noise_ratio);
    } else if (changes) {
      entry.proposed = true;
      entry.why = "changes the training: proposed, never accepted";
    } else {
      return results_check_.judge(entry, {entry.lever.id}, entry.lever.id);
    }
    return {};
  }

  std::vector<std::string> ids(const std::vector<std::size_t>& chosen) const {
    std::vector<std::string> names;
    for (const std::size_t index : chosen) names.push_back(result_.levers[index].lever.id);
    return names;
  }

  bool excluded_by(const Lever& lever, std::string& by) const {
    for (const std::size_t index : kept_) {
      const Lever& kept = result_.levers[index].lever;
      if (lever.group.empty() || kept.group != lever.group) continue;
      by = kept.id;
      return true;
    }
    return false;
  }

  /// Puts together what was faster by itself, each on top of what is kept so far.
  Status combine() {
    for (const Winner& winner : winners_) {
      LeverResult& entry = result_.levers[winner.index];
      if (kept_.empty()) {
        kept_ = {winner.index};
        with_kept_ = winner.run;
        result_.best = entry.speedup;
        entry.why = "faster, same results";
        continue;
      }
      std::string by;
      if (excluded_by(entry.lever, by)) {
        entry.why = "faster by itself; in its place is " + by;
        continue;
      }
      if (const Status done = add_one(winner.index, "faster by itself"); !done) return done;
    }
    return {};
  }

  /// What is kept made the job so much faster that more may be seen of what is not known to be
  /// slower, what may gain most first: of a step half as long a gain is twice the share.
  Status try_uncertain() {
    if (!result_.best || result_.best->speedup < kMuchFaster) return {};
    std::vector<std::size_t> uncertain;
    for (std::size_t i = 0; i < result_.levers.size(); ++i) {
      const LeverResult& entry = result_.levers[i];
      const bool is_winner = std::any_of(winners_.begin(), winners_.end(),
                                         [i](const Winner& one) { return one.index == i; });
      const bool may_be_kept = entry.lever.numerics != Numerics::kTrajectory &&
                               !entry.lever.saves_memory && entry.parity == Parity::kNotNeeded;
      if (is_winner || !may_be_kept || most_gained(entry) <= kNearly) continue;
      uncertain.push_back(i);
    }
    std::stable_sort(uncertain.begin(), uncertain.end(), [this](std::size_t a, std::size_t b) {
      return most_gained(result_.levers[a]) > most_gained(result_.levers[b]);
    });
    for (const std::size_t index : uncertain) {
      LeverResult& entry = result_.levers[index];
      std::string by;
      if (excluded_by(entry.lever, by)) continue;
      if (const Status done = add_one(index, entry.why); !done) return done;
    }
    return {};
  }

  /// The run with what is kept, behind `other`: the last one again, where nothing is in doubt.
  Result<TrialResult> make_again(const std::string& label, const std::vector<std::size_t>& kept,
                                 const TrialResult& other) {
    if (!kept_is_old_ && is_beyond_doubt(with_kept_, other, noise())) {
      kept_is_old_ = true;
      return with_kept_;
    }
    kept_is_old_ = false;
    return make_measured(label, ids(kept), true);
  }

  /// By itself, as it was measured; of one that was too small to be tried, now that a step is
  /// shorter.
  double most_gained(const LeverResult& entry) const {
    if (entry.speedup) return entry.speedup->high;
    if (!entry.too_small) return 1;
    const double now = speedup_of_saving((1 - 1 / *entry.at_most) * result_.best->speedup);
    return now > kWorthChanging ? now : 1;
  }

  Status add_one(std::size_t index, const std::string& by_itself) {
    LeverResult& entry = result_.levers[index];
    entry.tried = true;
    std::vector<std::size_t> more = kept_;
    more.push_back(index);
    const std::string label = fmt::format("{}", fmt::join(ids(more), "+"));
    auto with = make(label, ids(more), false);
    if (!with) return forward_error(with);
    if (with->ending != Ending::kMeasured) {
      entry.why = fmt::format("together with {}: {}: {}", fmt::join(ids(kept_), ", "),
                              to_string(with->ending), with->why);
      return {};
    }
    auto again = make_again(label + ".without", kept_, *with);
    if (!again) return forward_error(again);
    const predict::Speedup on_top = speedup_between(with_kept_, *with, *again, false);
    if (on_top.low <= threshold(result_.noise_ratio)) {
      entry.why = fmt::format("{}; on top of {} it gains {}", by_itself,
                              fmt::join(ids(kept_), ", "), in_words(on_top));
      with_kept_ = *std::move(again);
      return {};
    }
    LeverResult together = entry;
    if (const Status done = results_check_.judge(together, ids(more), label); !done) return done;
    if (together.parity == Parity::kFailed || together.parity == Parity::kNotObserved) {
      entry.why = by_itself + "; together: " + together.why;
      return {};
    }
    kept_ = more;
    with_kept_ = *std::move(with);
    entry.parity = together.parity;
    entry.why = fmt::format("faster, same results; on top of the others {}", in_words(on_top));
    return {};
  }

  /// Whether each of what is kept is still worth it beside the others; the last was just seen to
  /// be.
  Status leave_one_out() {
    for (std::size_t at = 0; kept_.size() > 1 && at + 1 < kept_.size();) {
      const std::size_t index = kept_[at];
      std::vector<std::size_t> fewer = kept_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
      const std::string label = fmt::format("left_out.{}", result_.levers[index].lever.id);
      auto without = make_measured(label, ids(fewer), false);
      if (!without) return forward_error(without);
      auto again = make_again(label + ".with", kept_, *without);
      if (!again) return forward_error(again);
      const predict::Speedup gone = speedup_between(with_kept_, *without, *again, false);
      if (1 / gone.high > 1) {
        with_kept_ = *std::move(again);
        ++at;
        continue;
      }
      result_.levers[index].why =
          fmt::format("faster by itself; beside {} it gains nothing that is certain",
                      fmt::join(ids(fewer), ", "));
      kept_ = fewer;
      with_kept_ = *std::move(without);
    }
    return {};
  }

  /// What is nearly as fast by itself as what is kept of its group may be faster beside the others.
  Status try_in_place() {
    for (std::size_t at = 0; kept_.size() > 1 && at < kept_.size(); ++at) {
      for (std::size_t i = 0; i < result_.levers.size(); ++i) {
        const LeverResult& kept = result_.levers[kept_[at]];
        const LeverResult& other = result_.levers[i];
        const bool may_be_kept = i != kept_[at] && other.speedup && !kept.lever.group.empty() &&
                                 other.lever.group == kept.lever.group && !other.proposed &&
                                 other.lever.numerics != Numerics::kTrajectory &&
                                 other.parity != Parity::kFailed &&
                                 other.parity != Parity::kNotObserved;
        if (!may_be_kept || other.speedup->high < kNearly * kept.speedup->low) continue;
        if (const Status done = put_in_place(at, i); !done) return done;
      }
    }
    return {};
  }

  Status put_in_place(std::size_t at, std::size_t index) {
    LeverResult& entry = result_.levers[index];
    LeverResult& kept = result_.levers[kept_[at]];
    std::vector<std::size_t> others = kept_;
    others[at] = index;
    const std::string label = fmt::format("{}", fmt::join(ids(others), "+"));
    auto with = make(label + ".in_place", ids(others), false);
    if (!with) return forward_error(with);
    if (with->ending != Ending::kMeasured) return {};
    auto again = make_again(label + ".in_place.without", kept_, *with);
    if (!again) return forward_error(again);
    const predict::Speedup gain = speedup_between(with_kept_, *with, *again, false);
    with_kept_ = *std::move(again);
    if (gain.low <= threshold(noise())) return {};
    LeverResult together = entry;
    const Status done = results_check_.judge(together, ids(others), label + ".in_place");
    if (!done) return done;
    if (together.parity == Parity::kFailed || together.parity == Parity::kNotObserved) return {};
    entry.parity = together.parity;
    entry.why =
        fmt::format("faster, same results; in the place of {} {}", kept.lever.id, in_words(gain));
    kept.why = "faster by itself; in its place is " + entry.lever.id;
    kept_ = others;
    with_kept_ = *std::move(with);
    return {};
  }

  /// All that is kept, once more and between two runs of the job as it is: of many levers that do
  /// nothing one was lucky.
  Status confirm() {
    if (kept_.empty()) return {};
    auto before = make_measured("confirm.before", {}, true);
    if (!before) return forward_error(before);
    auto with = make_measured("confirm", ids(kept_), false);
    if (!with) return forward_error(with);
    auto after = make_measured("confirm.after", {}, true);
    if (!after) return forward_error(after);
    result_.best = speedup_between(*before, *with, *after, false);
    if (result_.best->low > threshold(result_.noise_ratio)) return {};
    for (const std::size_t index : kept_) {
      result_.levers[index].why =
          fmt::format("faster at first; measured again {}: no gain above {:.1f} % is certain",
                      in_words(*result_.best), 100 * (threshold(result_.noise_ratio) - 1));
    }
    kept_.clear();
    result_.best.reset();
    return {};
  }

  Status search_for_batch() {
    const AskedArguments asked = settle_arguments(options_.arguments, result_.baseline);
    for (const Argument& argument : asked.known) {
      Lever named;
      named.id = argument.name;
      if (argument.name != kBatchArgument || !is_asked_for(named, options_)) continue;
      const std::size_t first = result_.levers.size();
      BatchRequest request;
      request.argument = as_kept(argument, result_.levers, kept_);
      request.kept = ids(kept_);
      request.threshold = threshold(result_.noise_ratio);
      for (const LeverResult& entry : result_.levers) {
        const bool ran = entry.lever.saves_memory && entry.speedup;
        if (ran) request.saves_memory = entry.lever;
      }
      request.make = [this](TrialRequest trial) { return make(std::move(trial)); };
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
      if (entry.why.empty()) entry.why = result_.unfinished;
    }
    // What was not compared with the others cannot be kept beside them, but the best one can.
    if (kept_.empty() && !winners_.empty()) {
      const auto best =
          std::max_element(winners_.begin(), winners_.end(),
                           [](const Winner& a, const Winner& b) { return a.speedup < b.speedup; });
      kept_ = {best->index};
      result_.levers[best->index].why = "faster, same results";
    }
    if (kept_.size() == 1) result_.best = result_.levers[kept_.front()].speedup;
    if (kept_.size() > 1) result_.best.reset();  // together they were not measured against the job
  }

  Trials& trials_;
  const SearchOptions& options_;
  SearchListener& listener_;
  TuneResult result_;
  std::vector<Lever> all_;
  std::vector<Winner> winners_;
  std::vector<std::size_t> kept_;
  std::vector<double> as_it_is_s_;  // mean steps of the job's runs as it is, in their order
  TrialResult opening_;             // the last run of the job as it is
  bool opening_is_old_ = false;     // a run without that one behind it was judged by it
  bool kept_is_old_ = false;        // likewise of with_kept_
  TrialResult with_kept_;           // the last run with what is kept
  WhenFed fed_{[this](TrialRequest request) { return make(std::move(request)); }};
  ResultsCheck results_check_{[this](TrialRequest request) { return make(std::move(request)); }};
};

}  // namespace

Result<TuneResult> search(Trials& trials, const SearchOptions& options, SearchListener& listener) {
  return Search(trials, options, listener).run();
}

}  // namespace unstarve::tune
