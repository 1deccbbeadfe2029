#include "tune/combination.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tune/judging/memory.h"
#include "tune/judging/promise.h"
#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

Reason together_with(std::vector<std::string> levers, Reason why) {
  if (levers.empty()) return why;
  return {ReasonKind::kTogetherWith, {{"levers", std::move(levers)}}, {std::move(why)}};
}

/// Of what was faster beside `levers` once. It may not have run to its end then.
Reason no_gain_again(std::vector<std::string> levers, const Compared& again) {
  if (again.why_not) return together_with(std::move(levers), again.why_not);
  return {ReasonKind::kNoGainBesideAgain,
          {{"levers", std::move(levers)}, {"speedup", again.shown}}};
}

Reason no_gain_on_top(std::vector<std::string> levers, const Compared& compared,
                      const Reason& by_itself, double needed) {
  if (levers.empty()) {
    return compared.speedup.high < 1 ? Reason(ReasonKind::kSlower) : no_certain_gain(needed);
  }
  return {ReasonKind::kNoGainOnTop,
          {{"levers", std::move(levers)}, {"speedup", compared.shown}},
          {by_itself ? by_itself : no_certain_gain(needed)}};
}

Reason not_confirmed(const Compared& again, double noise_ratio) {
  if (again.why_not) return {ReasonKind::kRanAgain, {}, {again.why_not}};
  return {ReasonKind::kNotConfirmed,
          {{"speedup", again.shown}},
          {no_certain_gain(threshold(noise_ratio))}};
}

}  // namespace

Status Combination::run() {
  Status done = combine();
  // What was left out may have made room for another of its group, or hindered one.
  for (std::vector<std::size_t> settled; done;) {
    done = try_uncertain();
    if (done) done = try_refused();
    if (done) done = try_pairs();
    if (!done || kept_ == settled) break;
    done = leave_one_out();
    settled = kept_;
  }
  if (done) done = try_in_place();
  if (done) done = confirm();
  if (!done) drop_unproved(done.error().message);
  return done;
}

Status Combination::run(const Offers& offers, const TrialResult& opening) {
  are_offered_ = true;
  as_it_is_ = with_kept_ = opening;
  for (;;) {
    auto offered = offers.next(ids(kept_));
    if (!offered) return forward_error(offered);
    if (!*offered) break;
    const std::size_t index = result_.levers.size();
    result_.levers.emplace_back().lever = **std::move(offered);
    offers.introduce(index);
    if (const Status done = add_one(index, {}); !done) return done;
    offers.judged(index);
  }
  Status done = leave_one_out();
  if (done) done = confirm();
  return done;
}

std::vector<std::string> Combination::ids(const std::vector<std::size_t>& chosen) const {
  std::vector<std::string> names;
  for (const std::size_t index : chosen) names.push_back(result_.levers[index].lever.id);
  return names;
}

bool Combination::excluded_by(const Lever& lever, std::string& by) const {
  for (const std::size_t index : kept_) {
    const Lever& kept = result_.levers[index].lever;
    if (lever.group.empty() || kept.group != lever.group) continue;
    by = kept.id;
    return true;
  }
  return false;
}

bool Combination::is_winner(std::size_t index) const {
  return are_offered_ ||
         std::any_of(winners_.begin(), winners_.end(),
                     [index](const Winner& winner) { return winner.index == index; });
}

/// Puts together what was faster by itself, each on top of what is kept so far.
Status Combination::combine() {
  for (const Winner& winner : winners_) {
    LeverResult& entry = result_.levers[winner.index];
    if (kept_.empty()) {
      kept_ = {winner.index};
      tried_.insert(winner.index);
      with_kept_ = winner.run;
      result_.best = entry.speedup;
      entry.settle(Outcome::kFaster, ReasonKind::kFaster);
      continue;
    }
    std::string by;
    if (excluded_by(entry.lever, by)) {
      entry.settle(Outcome::kReplaced, {ReasonKind::kReplaced, {{"lever", by}}});
      continue;
    }
    if (const Status done = add_one(winner.index, ReasonKind::kFasterByItself); !done) return done;
  }
  return {};
}

Lever Combination::as_one(const std::vector<std::size_t>& chosen) const {
  std::vector<Lever> levers;
  for (const std::size_t index : chosen) levers.push_back(result_.levers[index].lever);
  return tune::as_one(levers);
}

/// The run with what is kept, behind `other`: the last one again, where nothing is in doubt.
Result<TrialResult> Combination::make_again(const TrialRequest& request, const TrialResult& other) {
  if (!kept_is_old_ && runner_.is_beyond_doubt(with_kept_, other)) {
    kept_is_old_ = true;
    return with_kept_;
  }
  kept_is_old_ = false;
  return runner_.make_measured(request);
}

/// Why `entry`, one of `chosen`, may not be kept beside the others; none, and its parity is filled
/// in, where it may. What by itself was too small to be tried is seen here first.
Result<Reason> Combination::why_not_together(LeverResult& entry,
                                             const std::vector<std::size_t>& chosen,
                                             const TrialResult& with, double passes_ratio,
                                             const std::string& label) {
  if (Reason why = goes_otherwise(with_kept_, with, passes_ratio)) return why;
  LeverResult together = entry;
  together.lever = as_one(chosen);
  // Beside other draws no first loss and no gradient can be compared.
  const bool is_redrawn =
      together.lever.numerics == Numerics::kRedrawn && entry.lever.numerics != Numerics::kRedrawn;
  if (is_redrawn && entry.parity == Parity::kNotNeeded) {
    LeverResult alone = entry;
    const Status done = results_check_.judge(alone, {entry.lever.id}, entry.lever.id);
    if (!done) return forward_error(done);
    if (alone.parity == Parity::kFailed || alone.parity == Parity::kNotObserved) return alone.why;
  }
  const Status done = results_check_.judge(together, ids(chosen), label);
  if (!done) return forward_error(done);
  if (together.parity == Parity::kFailed || together.parity == Parity::kNotObserved) {
    return together.why;
  }
  entry.parity = together.parity;
  return Reason();
}

/// Runs `chosen` between two runs with what is kept, which it may be the next of.
Result<Combination::BesideKept> Combination::compare_with_kept(
    const std::vector<std::size_t>& chosen, const std::string& label) {
  const Comparison comparison = {runner_.request_for(label, ids(chosen), false),
                                 runner_.request_for(label + ".without", ids(kept_), true)};
  auto with = runner_.make(comparison.with);
  if (!with) return forward_error(with);
  BesideKept found = {*std::move(with), {}};
  if (found.with.ending != Ending::kMeasured) {
    found.compared.why_not = ending_reason(found.with);
    return found;
  }
  // What is offered was not seen before: it is judged between two runs without it.
  auto again = are_offered_ ? runner_.make_measured(comparison.without)
                            : make_again(comparison.without, found.with);
  if (!again) return forward_error(again);
  auto compared = runner_.compare(comparison, with_kept_, found.with, *again);
  if (!compared) return forward_error(compared);
  found.compared = *std::move(compared);
  with_kept_ = *std::move(again);
  return found;
}

Status Combination::add_one(std::size_t index, const Reason& by_itself) {
  LeverResult& entry = result_.levers[index];
  entry.tried = true;
  refused_.erase(index);
  tried_.insert(index);
  std::vector<std::size_t> more = kept_;
  more.push_back(index);
  // What is offered is offered once.
  const std::string label =
      are_offered_ ? entry.lever.id : fmt::format("{}", fmt::join(ids(more), "+"));
  auto beside = compare_with_kept(more, label);
  if (!beside) return forward_error(beside);
  const Compared& compared = beside->compared;
  if (compared.why_not) {
    entry.settle(not_added(index, nullptr), together_with(ids(kept_), compared.why_not));
    return {};
  }
  entry.on_top = {compared.shown, compared.runs, ids(kept_)};
  if (kept_.empty()) as_it_is_ = with_kept_;
  if (!compared.is_faster) {
    refused_[index] = {compared, {kept_.begin(), kept_.end()}, by_itself};
    entry.settle(not_added(index, &compared),
                 no_gain_on_top(ids(kept_), compared, by_itself, threshold(result_.noise_ratio)));
    return {};
  }
  const auto why_not = why_not_together(entry, more, beside->with, entry.lever.passes_ratio, label);
  if (!why_not) return forward_error(why_not);
  if (*why_not) {
    const Reason together = {ReasonKind::kNotTogether, {}, {by_itself, *why_not}};
    entry.settle(are_offered_ ? Outcome::kOtherWork : not_added(index, nullptr),
                 by_itself ? together : *why_not);
    return {};
  }
  entry.settle(Outcome::kFaster,
               kept_.empty() ? Reason(ReasonKind::kFaster)
                             : Reason(ReasonKind::kFasterOnTop, {{"speedup", compared.shown}}));
  kept_ = more;
  with_kept_ = std::move(beside->with);
  return {};
}

/// `compared`: null where it was not.
Outcome Combination::not_added(std::size_t index, const Compared* compared) const {
  const Outcome outcome = result_.levers[index].outcome;
  if (are_offered_) {
    if (compared == nullptr) return Outcome::kNotMeasured;
    return compared->speedup.high < 1 ? Outcome::kSlower : Outcome::kWithinNoise;
  }
  // Of one that was not faster by itself nothing else is known now.
  return is_winner(index) ? Outcome::kNotBesideOthers : outcome;
}

bool Combination::is_plain() const {
  if (!are_offered_ || kept_.size() != 1) return false;
  // Where another has been left out since, nobody has compared it with the job as it is.
  const std::optional<GainOnTop>& gain = result_.levers[kept_.front()].on_top;
  return gain && gain->below.empty() && runner_.is_beyond_doubt(as_it_is_, with_kept_);
}

/// Whether each of what is kept is still worth it beside the others.
Status Combination::leave_one_out() {
  ++rounds_;
  for (std::size_t at = 0; kept_.size() > 1 && at < kept_.size();) {
    const bool by_itself = is_winner(kept_[at]);
    if (by_itself && at + 1 == kept_.size()) break;  // it was just seen to be
    const auto stays = by_itself ? is_likely_to_gain(at) : is_certain_to_gain(at);
    if (!stays) return forward_error(stays);
    if (*stays) ++at;
  }
  return {};
}

std::vector<std::size_t> Combination::kept_without(std::size_t at) const {
  std::vector<std::size_t> fewer = kept_;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
  return fewer;
}

/// Trials are told apart by their labels, and one may be left out in more than one round.
std::string Combination::label_without(std::size_t at) const {
  const std::string label = fmt::format("left_out.{}", result_.levers[kept_[at]].lever.id);
  return rounds_ == 1 ? label : fmt::format("{}.round{}", label, rounds_);
}

/// What was certain to be faster by itself, and beside less than is kept now.
Result<bool> Combination::is_likely_to_gain(std::size_t at) {
  LeverResult& entry = result_.levers[kept_[at]];
  const std::vector<std::size_t> fewer = kept_without(at);
  const std::string label = label_without(at);
  const Comparison comparison = {runner_.request_for(label, ids(fewer), false),
                                 runner_.request_for(label + ".with", ids(kept_), true), false, 1};
  auto without = runner_.make(comparison.with);
  if (!without) return forward_error(without);
  if (without->ending != Ending::kMeasured) return true;  // without it the others do not run
  auto again = make_again(comparison.without, *without);
  if (!again) return forward_error(again);
  const auto gone = runner_.compare(comparison, with_kept_, *without, *again);
  if (!gone) return forward_error(gone);
  const bool makes_room(too_much_memory(with_kept_, *without));
  if (gone->why_not || makes_room || 1 / gone->speedup.speedup > kWorthChanging) {
    with_kept_ = *std::move(again);
    return true;
  }
  entry.settle(Outcome::kNotBesideOthers, {ReasonKind::kNotWorthBeside, {{"levers", ids(fewer)}}});
  kept_ = fewer;
  with_kept_ = *std::move(without);
  return false;
}

/// What was seen to be faster beside others alone: the run that showed it was picked for being
/// fast, so that it takes new ones to tell a gain from luck.
Result<bool> Combination::is_certain_to_gain(std::size_t at) {
  LeverResult& entry = result_.levers[kept_[at]];
  const std::vector<std::size_t> fewer = kept_without(at);
  const std::string label = label_without(at);
  const Comparison comparison = {runner_.request_for(label + ".with", ids(kept_), false),
                                 runner_.request_for(label + ".after", ids(fewer), true)};
  auto anew = runner_.compare_anew(comparison, label);
  if (!anew) return forward_error(anew);
  const bool makes_room = !anew->compared.why_not && too_much_memory(anew->with, anew->without);
  if (anew->compared.is_faster || makes_room) {
    proved_.insert(kept_[at]);
    with_kept_ = std::move(anew->with);
    return true;
  }
  entry.settle(Outcome::kNotBesideOthers, no_gain_again(ids(fewer), anew->compared));
  kept_ = fewer;
  with_kept_ = std::move(anew->without);
  return false;
}

bool Combination::may_take_place(const LeverResult& kept, const LeverResult& other) const {
  const bool of_group = !kept.lever.group.empty() && other.lever.group == kept.lever.group;
  const bool may_be_kept = other.speedup && !other.is_proposed() &&
                           other.lever.numerics != Numerics::kTrajectory &&
                           other.parity != Parity::kFailed && other.parity != Parity::kNotObserved;
  return of_group && may_be_kept && other.lever.id != kept.lever.id && kept.speedup &&
         other.speedup->high >= kNearly * kept.speedup->low;
}

/// What is nearly as fast by itself as what is kept of its group may be faster beside the others.
Status Combination::try_in_place() {
  for (std::size_t at = 0; kept_.size() > 1 && at < kept_.size(); ++at) {
    for (std::size_t i = 0; i < result_.levers.size(); ++i) {
      if (!may_take_place(result_.levers[kept_[at]], result_.levers[i])) continue;
      if (const Status done = put_in_place(at, i); !done) return done;
    }
  }
  return {};
}

Status Combination::put_in_place(std::size_t at, std::size_t index) {
  LeverResult& entry = result_.levers[index];
  LeverResult& kept = result_.levers[kept_[at]];
  std::vector<std::size_t> others = kept_;
  others[at] = index;
  const std::string label = fmt::format("{}.in_place", fmt::join(ids(others), "+"));
  auto beside = compare_with_kept(others, label);
  if (!beside) return forward_error(beside);
  if (!beside->compared.is_faster) return {};
  const double passes_ratio = entry.lever.passes_ratio / kept.lever.passes_ratio;
  const auto why_not = why_not_together(entry, others, beside->with, passes_ratio, label);
  if (!why_not) return forward_error(why_not);
  if (*why_not) return {};
  entry.settle(Outcome::kFaster, {ReasonKind::kFasterInPlace,
                                  {{"lever", kept.lever.id}, {"speedup", beside->compared.shown}}});
  kept.settle(Outcome::kReplaced, {ReasonKind::kReplaced, {{"lever", entry.lever.id}}});
  kept_ = others;
  proved_.insert(index);
  with_kept_ = std::move(beside->with);
  return {};
}

/// What was seen to be faster beside others alone, and not again: the run that showed it was picked
/// for being fast.
void Combination::drop_unproved(const std::string& why) {
  std::erase_if(kept_, [&](std::size_t index) {
    if (is_winner(index) || proved_.count(index) != 0) return false;
    LeverResult& entry = result_.levers[index];
    entry.settle(Outcome::kNotMeasured,
                 {ReasonKind::kNotMeasuredAgain, {}, {entry.why, quoted(why)}});
    return true;
  });
}

/// All that is kept, once more and between two runs of the job as it is: of many levers that do
/// nothing one was lucky.
Status Combination::confirm() {
  if (kept_.empty()) return {};
  if (is_plain()) {
    result_.best = result_.levers[kept_.front()].on_top->speedup;
    was_confirmed_ = true;
    return {};
  }
  const Comparison comparison = {runner_.request_for("confirm", ids(kept_), false),
                                 runner_.request_for("confirm.after", {}, true)};
  auto anew = runner_.compare_anew(comparison, "confirm.before");
  if (!anew) return forward_error(anew);
  result_.best = anew->compared.speedup;
  was_confirmed_ = result_.best->low > threshold(result_.noise_ratio);
  if (was_confirmed_) return {};
  for (const std::size_t index : kept_) {
    result_.levers[index].settle(Outcome::kWithinNoise,
                                 not_confirmed(anew->compared, result_.noise_ratio));
  }
  was_refused_ = true;
  kept_.clear();
  result_.best.reset();
  return {};
}

}  // namespace unstarve::tune
