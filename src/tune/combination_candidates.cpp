#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tune/combination.h"
#include "tune/judging/promise.h"
#include "tune/judging/speed.h"

// Which levers are tried on top of what is kept.
namespace unstarve::tune {

namespace {

constexpr double kMuchFaster = 1.1;
constexpr double kNotHopeless = 2.0 / 3;
constexpr std::size_t kMostHopeful = 3;

}  // namespace

/// By itself, as it was measured; of one that was too small to be tried, now that a step is
/// shorter.
double Combination::most_gained(const LeverResult& entry) const {
  if (entry.speedup) return entry.speedup->high;
  if (!entry.too_small) return 0;
  const double now = at_most_now(entry);
  return now > kWorthChanging ? now : 0;
}

/// Of a step that what is kept has made shorter, what a lever eases is a larger share.
double Combination::at_most_now(const LeverResult& entry) const {
  constexpr double kMostOfAStep = 0.9;
  if (!entry.at_most) return 1;
  const double shorter = result_.best && !kept_.empty() ? result_.best->speedup : 1;
  return speedup_of_saving(std::min(kMostOfAStep, (1 - 1 / *entry.at_most) * shorter));
}

/// What is kept made the job so much faster that more may be seen of what is not known to be
/// slower, what may gain most first: of a step half as long a gain is twice the share. And what had
/// to make room for one of its group that is not kept any more.
Status Combination::try_uncertain() {
  if (!result_.best || result_.best->speedup < kMuchFaster) return {};
  std::vector<std::size_t> uncertain;
  for (std::size_t i = 0; i < result_.levers.size(); ++i) {
    const LeverResult& entry = result_.levers[i];
    const bool may_be_kept = entry.lever.numerics != Numerics::kTrajectory &&
                             !entry.lever.saves_memory && entry.parity == Parity::kNotNeeded;
    if (tried_.count(i) != 0 || !(is_winner(i) || (may_be_kept && may_gain(entry)))) continue;
    uncertain.push_back(i);
  }
  std::stable_sort(uncertain.begin(), uncertain.end(), [this](std::size_t a, std::size_t b) {
    return most_gained(result_.levers[a]) > most_gained(result_.levers[b]);
  });
  for (const std::size_t index : uncertain) {
    LeverResult& entry = result_.levers[index];
    std::string by;
    if (excluded_by(entry.lever, by)) continue;
    const Reason by_itself = is_winner(index) ? Reason(ReasonKind::kFasterByItself) : entry.why;
    if (const Status done = add_one(index, by_itself); !done) return done;
  }
  return {};
}

/// What is slower by itself may gain where it eases much of a step: autocast makes copies of all
/// parameters, which cost more than it saves until their memory is kept.
bool Combination::may_gain(const LeverResult& entry) const {
  if (most_gained(entry) > kNearly) return true;
  return entry.speedup && entry.speedup->speedup > kNotHopeless &&
         entry.at_most.value_or(0) > kMuchFaster;
}

/// What gained nothing beside fewer levers than are kept now, and may gain beside those that came
/// later.
Status Combination::try_refused() {
  for (std::size_t before = 0; before != kept_.size();) {
    before = kept_.size();
    const auto refused = refused_;
    for (const auto& entry : refused) {
      const std::size_t index = entry.first;
      const Refused& refusal = entry.second;
      std::string by;
      const bool are_known = std::all_of(kept_.begin(), kept_.end(), [&refusal](std::size_t kept) {
        return refusal.kept.count(kept) != 0;
      });
      const Lever& lever = result_.levers[index].lever;
      const bool is_slower = refusal.compared.speedup.high <= kNearly;
      if (is_slower || are_known || excluded_by(lever, by)) continue;
      if (const Status done = add_one(index, refusal.by_itself); !done) return done;
    }
  }
  return {};
}

/// What gained nothing, and eases so much of a step that it may gain beside another: what eases
/// most first.
std::vector<std::size_t> Combination::hopeful() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < result_.levers.size(); ++i) {
    const LeverResult& entry = result_.levers[i];
    const bool is_kept = std::find(kept_.begin(), kept_.end(), i) != kept_.end();
    const bool is_alike =
        entry.lever.numerics == Numerics::kExact || entry.lever.numerics == Numerics::kRounding;
    const bool has_failed = entry.parity == Parity::kFailed ||
                            entry.parity == Parity::kNotObserved || entry.lever.saves_memory;
    std::string by;
    if (is_kept || !is_alike || has_failed || !entry.speedup || excluded_by(entry.lever, by)) {
      continue;
    }
    const auto refusal = refused_.find(i);
    const predict::Speedup& seen =
        refusal == refused_.end() ? *entry.speedup : refusal->second.compared.speedup;
    if (seen.high > kNotHopeless && at_most_now(entry) > kWorthChanging) found.push_back(i);
  }
  std::stable_sort(found.begin(), found.end(), [this](std::size_t a, std::size_t b) {
    return at_most_now(result_.levers[a]) > at_most_now(result_.levers[b]);
  });
  if (found.size() > kMostHopeful) found.resize(kMostHopeful);
  return found;
}

/// Two that gain nothing alone may gain together: half precision makes copies of all parameters,
/// which cost more than it saves until their memory is kept (decision 0025).
Status Combination::try_pairs() {
  constexpr double kTellsNothing = 1.5;  // no pair gains so much more than each of the two
  if (threshold(result_.noise_ratio) > kTellsNothing) return {};
  const std::vector<std::size_t> levers = hopeful();
  for (std::size_t i = 0; i < levers.size(); ++i) {
    for (std::size_t j = i + 1; j < levers.size(); ++j) {
      const Lever& first = result_.levers[levers[i]].lever;
      const Lever& second = result_.levers[levers[j]].lever;
      const bool exclude_each_other = !first.group.empty() && first.group == second.group;
      const auto pair = std::minmax(levers[i], levers[j]);
      const double together =
          at_most_now(result_.levers[levers[i]]) * at_most_now(result_.levers[levers[j]]);
      if (exclude_each_other || together < kMuchFaster || !tried_pairs_.insert(pair).second)
        continue;
      const std::size_t before = kept_.size();
      if (const Status done = add_pair(levers[i], levers[j]); !done) return done;
      if (kept_.size() != before) return try_refused();
    }
  }
  return {};
}

Status Combination::add_pair(std::size_t first, std::size_t second) {
  std::vector<std::size_t> more = kept_;
  more.insert(more.end(), {first, second});
  const std::string label = fmt::format("{}.pair", fmt::join(ids(more), "+"));
  if (kept_.empty()) {
    auto opening = runner_.make_measured(label + ".before", {}, true);
    if (!opening) return forward_error(opening);
    with_kept_ = *std::move(opening);
  }
  auto beside = compare_with_kept(more, label);
  if (!beside) return forward_error(beside);
  if (!beside->compared.is_faster) return {};
  const auto why_not = why_not_together(result_.levers[first], more, beside->with, 1, label);
  if (!why_not) return forward_error(why_not);
  if (*why_not) return {};
  result_.levers[second].parity = result_.levers[first].parity;
  for (const std::size_t index : {first, second}) {
    LeverResult& entry = result_.levers[index];
    entry.on_top = {beside->compared.shown, beside->compared.runs, ids(kept_)};
    const std::string& other = result_.levers[index == first ? second : first].lever.id;
    const Reason faster =
        kept_.empty() ? Reason(ReasonKind::kFaster)
                      : Reason(ReasonKind::kFasterOnTop, {{"speedup", beside->compared.shown}});
    entry.settle(Outcome::kFaster,
                 {ReasonKind::kTogetherWith, {{"levers", std::vector{other}}}, {faster}});
    refused_.erase(index);
    tried_.insert(index);
  }
  kept_ = more;
  with_kept_ = std::move(beside->with);
  return {};
}

}  // namespace unstarve::tune
