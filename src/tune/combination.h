#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tune/results_check.h"
#include "tune/screening.h"
#include "tune/trial_runner.h"

namespace unstarve::tune {

/// As fast, or no slower than what chance does.
inline constexpr double kNearly = 0.95;

/// Changes that are offered one by one, and who is told of each: once it is one of
/// TuneResult::levers, by its place there, and once it is judged.
struct Offers {
  NextChange next;
  std::function<void(std::size_t)> introduce;
  std::function<void(std::size_t)> judged;
};

/// Puts together what was faster by itself, and finds out what of it is to be kept.
class Combination {
 public:
  /// All outlive this.
  Combination(TrialRunner& runner, ResultsCheck& results_check, TuneResult& result,
              const std::vector<Winner>& winners)
      : runner_(runner), results_check_(results_check), result_(result), winners_(winners) {}

  /// Errors: those of the trials; of what was kept until then what is certain stays.
  Status run();
  /// The same of what is offered: each on top of what is kept then, none by itself. `opening`: the
  /// last run of the job as it is.
  Status run(const Offers& offers, const TrialResult& opening);
  /// By their places in TuneResult::levers.
  const std::vector<std::size_t>& kept() const { return kept_; }
  /// The last run with what is kept and nothing else.
  const std::string& kept_run() const { return with_kept_.label; }
  /// The last run of the job as it is, where chance had no part in what is kept; else none.
  std::optional<TrialResult> beyond_chance() const {
    return is_plain() ? std::optional(as_it_is_) : std::nullopt;
  }
  /// What was to be kept ran once more, and was no faster than the job as it is.
  bool was_refused() const { return was_refused_; }
  /// It ran once more, and was faster again.
  bool was_confirmed() const { return was_confirmed_; }

 private:
  /// What was not certain to gain beside what was kept then.
  struct Refused {
    Compared compared;
    std::set<std::size_t> kept;
    Reason by_itself;
  };

  /// A run with what is kept and more, and whether it is faster.
  struct BesideKept {
    TrialResult with;
    Compared compared;
  };

  std::vector<std::string> ids(const std::vector<std::size_t>& chosen) const;
  bool excluded_by(const Lever& lever, std::string& by) const;
  /// It was certain to be faster once already, by itself or on top of others.
  bool is_winner(std::size_t index) const;
  /// A single change that by itself is far from what chance does: it needs no further run.
  bool is_plain() const;
  Status combine();
  Status try_uncertain();
  double most_gained(const LeverResult& entry) const;
  double at_most_now(const LeverResult& entry) const;
  bool may_gain(const LeverResult& entry) const;
  Status try_refused();
  std::vector<std::size_t> hopeful() const;
  Status try_pairs();
  Status add_pair(std::size_t first, std::size_t second);
  Lever as_one(const std::vector<std::size_t>& chosen) const;
  Result<TrialResult> make_again(const TrialRequest& request, const TrialResult& other);
  Result<Reason> why_not_together(LeverResult& entry, const std::vector<std::size_t>& chosen,
                                  const TrialResult& with, double passes_ratio,
                                  const std::string& label);
  Result<BesideKept> compare_with_kept(const std::vector<std::size_t>& chosen,
                                       const std::string& label);
  Status add_one(std::size_t index, const Reason& by_itself);
  Outcome not_added(std::size_t index, const Compared* compared) const;
  Status leave_one_out();
  std::vector<std::size_t> kept_without(std::size_t at) const;
  std::string label_without(std::size_t at) const;
  Result<bool> is_likely_to_gain(std::size_t at);
  Result<bool> is_certain_to_gain(std::size_t at);
  bool may_take_place(const LeverResult& kept, const LeverResult& other) const;
  Status try_in_place();
  Status put_in_place(std::size_t at, std::size_t index);
  Status confirm();
  void drop_unproved(const std::string& why);

  TrialRunner& runner_;
  ResultsCheck& results_check_;
  TuneResult& result_;
  const std::vector<Winner>& winners_;
  std::vector<std::size_t> kept_;
  std::set<std::size_t> proved_;            // of what is kept and no winner
  std::map<std::size_t, Refused> refused_;  // by their places in TuneResult::levers
  std::set<std::size_t> tried_;             // on top of others, or first
  std::set<std::pair<std::size_t, std::size_t>> tried_pairs_;
  int rounds_ = 0;  // in which each was left out
  bool was_refused_ = false;
  bool was_confirmed_ = false;
  bool are_offered_ = false;  // none was tried by itself before
  TrialResult as_it_is_;      // of these: the last run without any
  TrialResult with_kept_;     // the last run with what is kept
  bool kept_is_old_ = false;  // another was judged by it, without a run behind that
};

}  // namespace unstarve::tune
