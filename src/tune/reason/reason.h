#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "predict/speedup.h"

namespace unstarve::tune {

/// Why something came of a lever, or of a search. `report/tuning/reason_words.cpp` has a line for
/// each: its name in JSON, and its words with the facts that it has.
enum class ReasonKind : std::uint8_t {
  kNone,
  kQuoted,  // the words of others: an exception, an error, the hook
  kEnding,  // a trial was not measured

  // What is not tried.
  kTooSmall,
  kVariantOfSlower,
  kNoSuchLever,
  kNotAdvised,
  kNotSureToGain,
  kGainsTooLittle,
  kGainsNothingBeside,
  kOptionUnknown,
  kOptionNoNumber,

  // How a lever does by itself.
  kFasterByItself,
  kSlower,
  kSlowerEndedEarly,
  kNoCertainGain,
  kNoiseTellsNothing,
  kChangesTraining,
  kFasterWhenFed,
  kRanAgain,

  // Other work.
  kGainsTooMuch,
  kSamplesUnknown,
  kStepsSkipped,
  kStreamRepeated,
  kOtherSamples,
  kOtherPasses,

  // Memory.
  kRanOutOfMemory,
  kMemoryNearlyFull,
  kSavesMemory,
  kSavesNoMemory,

  // Beside others.
  kFaster,
  kFasterOnTop,
  kFasterInPlace,
  kReplaced,
  kTogetherWith,
  kNoGainOnTop,
  kNotTogether,
  kNotWorthBeside,
  kNoGainBesideAgain,
  kNotMeasuredAgain,
  kNotConfirmed,

  // Sizes of the batch.
  kNotRunForLonger,
  kStepSamplesUnknown,
  kNewSamplesUnknown,
  kDataEnd,
  kNotBatchAlone,
  kBatchBetter,
  kBatchTooDear,
  kRanAtFirst,
  kHeld,

  // Results.
  kResultsNotObserved,
  kOtherResults,
  kResultsHold,
  kFewLosses,
  kLossesAreZero,
  kOwnLossesNotFinite,
  kOwnLossesDiffer,
  kOtherLossCount,
  kLossNotFinite,
  kOtherRows,
  kFirstLossesDiffer,
  kGradientsNotSeen,
  kGradientLengthsDiffer,
  kFirstGradientNotSeen,
  kFirstGradientAway,
  kLossLeavesBand,
  kOtherCalls,
  kOtherNumbers,
  kOtherDraws,
  kWeightsNotSeen,
  kTensorMissing,
  kTensorAdded,
  kTensorSize,
  kTensorBegin,
  kTensorGradients,
  kTensorGradientCount,
  kTensorWay,
  kTensorMoves,
  kTensorMoved,

  // The script with the change.
  kNotRunAsWritten,
  kNoChangeAsWritten,
};

struct Reason;

/// One thing that stands in a reason's words, by its name.
struct Fact {
  std::string_view name;  // a literal
  std::variant<double, std::string, std::vector<std::string>, predict::Speedup> value;
};

/// Why something came to be, as data.
struct Reason {
  Reason() = default;
  Reason(ReasonKind which, std::vector<Fact> with = {},  // NOLINT(google-explicit-constructor)
         std::vector<Reason> causes = {})
      : kind(which), facts(std::move(with)), because(std::move(causes)) {}

  ReasonKind kind = ReasonKind::kNone;
  std::vector<Fact> facts;
  std::vector<Reason> because;  // further ones that are part of it

  /// There is one.
  explicit operator bool() const { return kind != ReasonKind::kNone; }
};

/// The words of others; none where there are none.
inline Reason quoted(std::string text) {
  if (text.empty()) return {};
  return {ReasonKind::kQuoted, {{"text", std::move(text)}}};
}

inline Fact count_fact(std::string_view name, std::size_t count) {
  return {name, static_cast<double>(count)};
}

}  // namespace unstarve::tune
