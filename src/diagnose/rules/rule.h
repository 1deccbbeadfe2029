#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis/diagnosis.h"
#include "diagnose/signals/signals.h"

namespace unstarve::diagnose {

/// What a rule has to say when its condition holds.
struct Claim {
  /// kCause: share of wall time. kDetail: how much of the cause it explains, 0..1, by which the
  /// details of one cause are ranked. Otherwise unused.
  double weight = 0;
  /// Sentences with numbers; the first of a hint or a condition is what it says.
  std::vector<std::string> evidence;
};

enum class RuleKind {
  kCause,      // names a share of the time: becomes a finding
  kDetail,     // says why, inside a cause
  kCondition,  // holds for the measurement as a whole
  kHint,       // a rule of thumb of the field
};

/// One rule: one file in a folder beside this, one folder of golden cases in
/// tests/golden.
///
/// `evaluate` is asked only when every signal in `needs` is there, and returns nothing when its
/// condition does not hold.
struct Rule {
  std::string_view name;
  RuleKind kind = RuleKind::kCause;
  std::string_view cause;  // kCause, kDetail: the finding it makes or explains
  std::vector<Signal> needs;
  std::optional<Claim> (*evaluate)(const Signals& signals) = nullptr;
  std::string_view cannot_tell;  // kHint: what the signal leaves open
};

/// A claim, or an abstention, or neither: the condition does not hold.
struct RuleAnswer {
  std::optional<Claim> claim;
  std::optional<Abstention> abstention;
};

/// Asks a rule, which abstains when a signal that it needs is absent.
RuleAnswer ask(const Rule& rule, const Signals& signals);

/// Below this share a cause is not worth a finding.
inline constexpr double kSmallestShare = 0.01;
/// A GPU that computes for so much of the time is held up by nothing around it.
inline constexpr double kBusyShare = 0.9;

}  // namespace unstarve::diagnose
