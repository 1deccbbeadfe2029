#include "tune/judging/tensors.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace unstarve::tune {

namespace {

constexpr double kTimesOwn = 3;    // what two runs of the same seed differ by
constexpr double kTimesDrift = 5;  // an optimizer divides by the gradient: small ones turn round
constexpr double kFewSteps = 0.1;  // of the updates, whose gradients rounding takes away or gives
constexpr double kEndRatio = 3;    // how far a tensor moves, by rounding
constexpr double kSeedsRatio = 2;  // of what seeds reach
constexpr double kSameStart = 1e-3;
constexpr double kStandsStill = 0.95;  // of its way off: 1, unless it goes somewhere else
constexpr std::string_view kBeside = " beside it: ";  // in the names of other modules' tensors

/// How far the way of a tensor may be off behind the first steps, in relation to its length. With
/// fewer bits entries whose gradient is small go either way.
double allowed_away(Numerics numerics, bool fewer_bits) {
  if (numerics != Numerics::kRounding) return 0.05;
  return fewer_bits ? 0.7 : 0.1;
}

double length_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double away_from(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double squares = 0;
  for (std::size_t i = 0; i < theirs.size() && i < ours.size(); ++i) {
    squares += (ours[i] - theirs[i]) * (ours[i] - theirs[i]);
  }
  return std::sqrt(squares);
}

const TensorDigest* tensor_in(const TensorDigests& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  return found != tensors.end() ? &found->second : nullptr;
}

/// "body.weight" of "body.weight: exp_avg".
std::string owner_of(const std::string& name) { return name.substr(0, name.find(": ")); }

bool is_beside(const std::string& name) { return name.find(kBeside) != std::string::npos; }

bool is_moment(const std::string& name) { return !is_beside(name) && name != owner_of(name); }

class ByTensor {
 public:
  ByTensor(const ParityBaseline& baseline, const TrialResult& candidate, Numerics numerics,
           bool fewer_bits, double drift)
      : baseline_(baseline),
        same_(baseline.same.tensors),
        ours_(candidate.tensors),
        numerics_(numerics),
        fewer_bits_(fewer_bits),
        drift_(drift),
        usual_pull_(usual_pull()) {}

  Reason differs() const {
    if (same_.empty()) return {};
    if (ours_.empty()) return ReasonKind::kWeightsNotSeen;
    if (Reason other = other_tensors()) return other;
    for (const auto& [name, same] : same_) {
      const TensorDigest* const ours = tensor_in(ours_, name);
      if (ours == nullptr) continue;
      if (Reason why = differs_in(name, same, *ours)) {
        why.facts.push_back({"tensor", name});
        return why;
      }
    }
    return {};
  }

 private:
  /// The job itself has the same in each of its runs; what lies beside a model may be gone by then.
  Reason other_tensors() const {
    const TensorDigests& again = baseline_.same_again.tensors;
    for (const auto& [name, same] : same_) {
      const bool is_always = is_beside(name) || tensor_in(again, name) != nullptr;
      if (is_always && !is_beside(name) && tensor_in(ours_, name) == nullptr) {
        return {ReasonKind::kTensorMissing, {{"tensor", name}}};
      }
    }
    for (const auto& [name, ours] : ours_) {
      if (!is_beside(name) && tensor_in(same_, name) == nullptr &&
          tensor_in(again, name) == nullptr) {
        return {ReasonKind::kTensorAdded, {{"tensor", name}}};
      }
    }
    return {};
  }

  /// Without the tensor's name.
  Reason differs_in(const std::string& name, const TensorDigest& same,
                    const TensorDigest& ours) const {
    const TensorDigest* const again = tensor_in(baseline_.same_again.tensors, name);
    if (again == nullptr) return {};
    if (same.numbers != ours.numbers) return ReasonKind::kTensorSize;
    if (Reason why = other_gradients(name, same, *again, ours)) return why;
    if (is_pulled_by_rounding(name)) return {};
    if (numerics_ != Numerics::kRedrawn) {
      const double own = std::abs(again->begins - same.begins);
      if (std::abs(ours.begins - same.begins) > kSameStart * same.begins + kTimesOwn * own) {
        return ReasonKind::kTensorBegin;
      }
      if (Reason why = goes_elsewhere(name, same, *again, ours)) return why;
    }
    return moves_otherwise(name, same, ours);
  }

  /// Updates in which it got a gradient, or none; random layers may be left out in other ones.
  Reason other_gradients(const std::string& name, const TensorDigest& same,
                         const TensorDigest& again, const TensorDigest& ours) const {
    const std::size_t updates = same.gradients.size();
    if (updates == 0 && ours.gradients.empty()) return {};
    if (numerics_ == Numerics::kRedrawn) return more_or_less_often(name, same, ours);
    const std::size_t by_itself = differing(name, same, again);
    const bool rounds = numerics_ == Numerics::kRounding;
    const double few = rounds ? kFewSteps * static_cast<double>(updates) : 0;
    const auto allowed = static_cast<double>(2 * by_itself) + few;
    const std::size_t differ = differing(name, same, ours);
    if (static_cast<double>(differ) <= allowed) return {};
    return {
        ReasonKind::kTensorGradients,
        {count_fact("differ", differ), count_fact("of", std::max(updates, ours.gradients.size()))}};
  }

  Reason more_or_less_often(const std::string& name, const TensorDigest& same,
                            const TensorDigest& ours) const {
    const auto often = [](const TensorDigest& digest) {
      return static_cast<double>(std::count(digest.gradients.begin(), digest.gradients.end(), '2'));
    };
    const auto [least, most] = range_of(name, often);
    const double beside = kFewSteps * static_cast<double>(same.gradients.size()) + most - least;
    if (often(ours) >= least - beside && often(ours) <= most + beside) return {};
    return {ReasonKind::kTensorGradientCount, {{"steps", often(ours)}, {"expected", often(same)}}};
  }

  std::size_t differing(const std::string& name, const TensorDigest& first,
                        const TensorDigest& other) const {
    std::string a = first.gradients, b = other.gradients;
    if (is_pulled_by_rounding(name)) {  // what rounding leaves of zero may be zero
      for (std::string* const all : {&a, &b}) std::replace(all->begin(), all->end(), '1', '2');
    }
    const std::size_t shared = std::min(a.size(), b.size());
    std::size_t count = std::max(a.size(), b.size()) - shared;
    for (std::size_t i = 0; i < shared; ++i) count += a[i] != b[i] ? 1 : 0;
    return count;
  }

  /// Behind the first steps.
  Reason goes_elsewhere(const std::string& name, const TensorDigest& same,
                        const TensorDigest& again, const TensorDigest& ours) const {
    const double moved = length_of(same.early);
    const double away = away_from(ours.early, same.early);
    // Of these their length at the end says it.
    if (moved <= 0 || is_beside(name)) return {};
    const double own = away_from(again.early, same.early) / moved;
    const double rounding = allowed_away(numerics_, fewer_bits_);
    const double usual = may_follow_rounding(name) ? kStandsStill : rounding;
    const double allowed = usual + kTimesOwn * own + kTimesDrift * drift_;
    if (away / moved <= allowed) return {};
    return {ReasonKind::kTensorWay, {{"share", away / moved}}};
  }

  /// An optimizer that keeps moments may divide by them: entries whose gradient is what rounding
  /// leaves of zero, as of the keys' bias in attention, then go as far as others, each run another
  /// way, and with them what a buffer sees. In the moments they weigh as little as in gradients.
  bool may_follow_rounding(const std::string& name) const {
    if (is_moment(name)) return false;
    if (tensor_in(same_, name)->gradients.empty()) return true;  // a buffer
    const std::string prefix = name + ": ";
    const auto first = same_.lower_bound(prefix);
    return std::any_of(first, same_.end(), [&](const auto& entry) {
      return entry.first.starts_with(prefix) && !entry.first.ends_with(": step");
    });
  }

  /// At the end, where runs that round otherwise may have gone different ways.
  Reason moves_otherwise(const std::string& name, const TensorDigest& same,
                         const TensorDigest& ours) const {
    const auto [least, most] =
        range_of(name, [](const TensorDigest& digest) { return digest.end; });
    if (most <= 0 && ours.end > 0) return ReasonKind::kTensorMoves;
    if (most <= 0) return {};
    const double seeds = least > 0 ? kSeedsRatio * most / least : HUGE_VAL;
    const double ratio = std::max(kEndRatio, seeds);
    // What a moment is in one step says nothing of the others.
    const bool is_any = is_moment(name);
    const bool is_less = least > 0 && (ours.end <= 0 || (!is_any && ours.end < same.end / ratio));
    const bool is_more = !is_any && ours.end > same.end * ratio;
    if (std::isfinite(ours.end) && !is_less && !is_more) return {};
    return {ReasonKind::kTensorMoved, {{"moved", ours.end}, {"expected", same.end}}};
  }

  /// Over all runs of the job as it is.
  template <class Get>
  std::pair<double, double> range_of(const std::string& name, Get get) const {
    double least = get(*tensor_in(same_, name)), most = least;
    const auto add = [&](const TrialResult& run) {
      const TensorDigest* const found = tensor_in(run.tensors, name);
      if (found == nullptr) return;
      least = std::min(least, get(*found));
      most = std::max(most, get(*found));
    };
    add(baseline_.same_again);
    for (const TrialResult& seed : baseline_.other_seeds) add(seed);
    return {least, most};
  }

  /// The gradient of what cannot change the loss, as of a bias before a normalization, is what
  /// rounding leaves of zero. An optimizer that divides by its length makes a way of it all the
  /// same, and each run another one.
  bool is_pulled_by_rounding(const std::string& name) const {
    const TensorDigest* const owner = tensor_in(same_, owner_of(name));
    if (owner == nullptr || owner->pull <= 0 || owner->numbers <= 0) return false;
    const double rounding = fewer_bits_ ? 1e-2 : 1e-4;
    return owner->pull / std::sqrt(owner->numbers) < rounding * usual_pull_;
  }

  /// Of one number, over all that got a gradient.
  double usual_pull() const {
    double squares = 0, numbers = 0;
    for (const auto& [name, digest] : same_) {
      if (digest.pull <= 0) continue;
      squares += digest.pull * digest.pull;
      numbers += digest.numbers;
    }
    return numbers > 0 ? std::sqrt(squares / numbers) : 0;
  }

  const ParityBaseline& baseline_;
  const TensorDigests& same_;
  const TensorDigests& ours_;
  const Numerics numerics_;
  const bool fewer_bits_;
  const double drift_;
  const double usual_pull_;
};

}  // namespace

Reason differs_in_tensors(const ParityBaseline& baseline, const TrialResult& candidate,
                          Numerics numerics, bool fewer_bits, double drift) {
  return ByTensor(baseline, candidate, numerics, fewer_bits, drift).differs();
}

Reason differs_in_calls(const ParityBaseline& baseline, const TrialResult& candidate,
                        Numerics numerics) {
  const TrialResult& same = baseline.same;
  const TrialResult& again = baseline.same_again;
  if (numerics == Numerics::kRegrouped) return {};  // as it says; sums and samples are compared
  if (same.calls == again.calls && same.calls != candidate.calls) {
    return ReasonKind::kOtherCalls;
  }
  if (same.numbers == again.numbers && same.numbers != candidate.numbers) {
    return ReasonKind::kOtherNumbers;
  }
  if (numerics == Numerics::kRedrawn) return {};
  for (const auto& [name, state] : same.generators) {
    const auto found = candidate.generators.find(name);
    const auto other = again.generators.find(name);
    const bool is_known = other != again.generators.end() && other->second == state;
    // A kernel in another's place may draw otherwise what it draws on a GPU.
    const bool may_differ = numerics == Numerics::kRounding && name.starts_with("cuda");
    if (!is_known || may_differ) continue;
    if (found == candidate.generators.end() || found->second != state) {
      return {ReasonKind::kOtherDraws, {{"generator", name}}};
    }
  }
  return {};
}

}  // namespace unstarve::tune
