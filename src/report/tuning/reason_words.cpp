#include "report/tuning/reason_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace unstarve::report {

namespace {

using tune::Reason;
using tune::ReasonKind;

/// `words`: {fact} is one of the reason's facts, {0} the first of those that are part of it. Behind
/// a colon stands how a number is written: a format of fmt's, `%` (of a share), `GiB`, `times`.
struct Words {
  ReasonKind kind;
  std::string_view name;
  std::string_view words;
};

constexpr std::array kWords = {
    Words{ReasonKind::kQuoted, "quoted", "{text}"},
    Words{ReasonKind::kEnding, "ending", "{ending}: {text}"},

    Words{ReasonKind::kTooSmall, "too_small",
          "at most {most:.3f}x: {eases} takes {share:.1%} of a step"},
    Words{ReasonKind::kVariantOfSlower, "variant_of_slower",
          "{lever} is slower, of which it is a variant"},
    Words{ReasonKind::kNoSuchLever, "no_such_lever", "no lever of this job has that name"},
    Words{ReasonKind::kNotAdvised, "not_advised", "the diagnosis of this run does not advise it"},
    Words{ReasonKind::kNotSureToGain, "not_sure_to_gain",
          "it is not sure to gain: predicted {predicted}"},
    Words{ReasonKind::kGainsTooLittle, "gains_too_little",
          "it is predicted to gain less than is worth keeping"},
    Words{ReasonKind::kGainsNothingBeside, "gains_nothing_beside",
          "beside {lever}, which was kept, it is not predicted to gain"},
    Words{ReasonKind::kOptionUnknown, "option_unknown", "the hook did not say what {option} is"},
    Words{ReasonKind::kOptionNoNumber, "option_no_number",
          "{option} is {value:.0f}, which is no positive number"},

    Words{ReasonKind::kFasterByItself, "faster_by_itself", "faster by itself"},
    Words{ReasonKind::kSlower, "slower", "slower"},
    Words{ReasonKind::kSlowerEndedEarly, "slower_ended_early", "slower; it was ended early"},
    Words{ReasonKind::kNoCertainGain, "no_certain_gain", "no gain above {gain:.1%} is certain"},
    Words{
        ReasonKind::kNoiseTellsNothing, "noise_tells_nothing",
        "nothing can be told: runs of the job as it is differ {times:.1f}-fold, so that it needs a "
        "quieter machine"},
    Words{ReasonKind::kChangesTraining, "changes_training",
          "changes the training: proposed, never accepted"},
    Words{ReasonKind::kFasterWhenFed, "faster_when_fed",
          "{0}; {speedup} if the loader kept up: feed the job first (unstarve run --fix)"},
    Words{ReasonKind::kRanAgain, "ran_again", "when it ran again: {0}"},

    Words{ReasonKind::kGainsTooMuch, "gains_too_much",
          "more than it can gain ({most:.2f}x: {eases}): other work"},
    Words{ReasonKind::kSamplesUnknown, "samples_unknown",
          "it changes what a step is, and the samples of a step are not known"},
    Words{ReasonKind::kStepsSkipped, "steps_skipped",
          "gradients overflow: {share:.0%} of the steps were left out by the GradScaler"},
    Words{ReasonKind::kStreamRepeated, "stream_repeated",
          "each of {workers:.0f} workers gives all of an iterable data set that does not divide "
          "itself: it is other work"},
    Words{ReasonKind::kOtherSamples, "other_samples",
          "a step holds {samples:.1f} samples, not {expected:.1f}: it is other work"},
    Words{ReasonKind::kOtherPasses, "other_passes",
          "a step has {passes:.2f} backward passes, not {expected:.2f}: it is other work"},

    Words{ReasonKind::kRanOutOfMemory, "ran_out_of_memory",
          "it ran out of memory {times:times} and went on with what PyTorch had kept"},
    Words{ReasonKind::kMemoryNearlyFull, "memory_nearly_full",
          "it takes {share:.0%} of the GPU's memory; another step may not fit"},
    Words{
        ReasonKind::kSavesMemory, "saves_memory",
        "saves {saved_bytes:GiB} of {of_bytes:GiB} GiB, and a step takes {times_as_long:.2f} times "
        "as long: for a larger batch alone"},
    Words{ReasonKind::kSavesNoMemory, "saves_no_memory",
          "saves no memory that is seen, and a step takes {times_as_long:.2f} times as long: for a "
          "larger batch alone"},

    Words{ReasonKind::kFaster, "faster", "faster, same results"},
    Words{ReasonKind::kFasterOnTop, "faster_on_top",
          "faster, same results; on top of the others {speedup}"},
    Words{ReasonKind::kFasterInPlace, "faster_in_place",
          "faster, same results; in the place of {lever} {speedup}"},
    Words{ReasonKind::kReplaced, "replaced", "faster by itself; in its place is {lever}"},
    Words{ReasonKind::kTogetherWith, "together_with", "together with {levers}: {0}"},
    Words{ReasonKind::kNoGainOnTop, "no_gain_on_top", "{0}; on top of {levers} it gains {speedup}"},
    Words{ReasonKind::kNotTogether, "not_together", "{0}; together: {1}"},
    Words{ReasonKind::kNotWorthBeside, "not_worth_beside",
          "faster by itself; beside {levers} it gains nothing that is worth a change"},
    Words{ReasonKind::kNoGainBesideAgain, "no_gain_beside_again",
          "faster beside {levers} at first; measured again {speedup}: no gain is certain"},
    Words{ReasonKind::kNotMeasuredAgain, "not_measured_again", "{0}; not measured again: {1}"},
    Words{ReasonKind::kNotConfirmed, "not_confirmed",
          "faster at first; measured again {speedup}: {0}"},

    Words{ReasonKind::kNotRunForLonger, "not_run_for_longer",
          "not proposed: {0} before it had run for longer"},
    Words{ReasonKind::kStepSamplesUnknown, "step_samples_unknown",
          "how many samples a step holds is not known"},
    Words{ReasonKind::kNewSamplesUnknown, "new_samples_unknown",
          "how many samples a step then holds is not known"},
    Words{ReasonKind::kDataEnd, "data_end",
          "a step holds {samples:.1f} samples and not {expected:.1f}: the data end before"},
    Words{ReasonKind::kNotBatchAlone, "not_batch_alone",
          "a step holds {samples:.1f} samples and not {expected:.1f}: {option} is not its batch "
          "alone"},
    Words{ReasonKind::kBatchBetter, "batch_better", "a sample takes less with {batch}"},
    Words{ReasonKind::kBatchTooDear, "batch_too_dear",
          "a sample takes less with {batch}: what it saves is not worth it"},
    Words{ReasonKind::kRanAtFirst, "ran_at_first", "it ran at first, and later not: {0}"},
    Words{ReasonKind::kHeld, "held",
          "changes the training: proposed, never accepted; held for {seconds:.0f} s"},

    Words{ReasonKind::kResultsNotObserved, "results_not_observed",
          "faster, but its results were not observed: {0}"},
    Words{ReasonKind::kOtherResults, "other_results", "other results: {0}"},
    Words{ReasonKind::kResultsHold, "results_hold", "losses, gradients and each tensor hold"},
    Words{ReasonKind::kFewLosses, "few_losses", "too few losses were seen by a backward()"},
    Words{ReasonKind::kLossesAreZero, "losses_are_zero",
          "all losses are zero, as on an emulated GPU"},
    Words{ReasonKind::kOwnLossesNotFinite, "own_losses_not_finite",
          "the job's own losses are not finite numbers"},
    Words{ReasonKind::kOwnLossesDiffer, "own_losses_differ",
          "two runs of the same seed have different numbers of losses"},
    Words{ReasonKind::kOtherLossCount, "other_loss_count",
          "{losses:.0f} losses were seen, not {expected:.0f}"},
    Words{ReasonKind::kLossNotFinite, "loss_not_finite", "a loss is not a finite number"},
    Words{ReasonKind::kOtherRows, "other_rows",
          "the model was called with another number of samples"},
    Words{ReasonKind::kFirstLossesDiffer, "first_losses_differ",
          "the first losses differ by {difference:.2g%}"},
    Words{ReasonKind::kGradientsNotSeen, "gradients_not_seen", "its gradients were not seen"},
    Words{ReasonKind::kGradientLengthsDiffer, "gradient_lengths_differ",
          "the first gradients differ by {difference:.2g%} in length"},
    Words{ReasonKind::kFirstGradientNotSeen, "first_gradient_not_seen",
          "its first gradient was not seen"},
    Words{ReasonKind::kFirstGradientAway, "first_gradient_away",
          "the first gradient is {away:.2g%} away from that {reference}; the job's own is "
          "{own:.2g%}"},
    Words{ReasonKind::kLossLeavesBand, "loss_leaves_band",
          "the loss of steps {first_step:.0f} to {last_step:.0f} is {loss:.4g}; by other seeds it "
          "may be {low:.4g} to {high:.4g}"},
    Words{ReasonKind::kOtherCalls, "other_calls",
          "the model was called more or less often in a step"},
    Words{ReasonKind::kOtherNumbers, "other_numbers",
          "the model was called with more or fewer numbers in a step"},
    Words{ReasonKind::kOtherDraws, "other_draws", "it draws other random numbers ({generator})"},
    Words{ReasonKind::kWeightsNotSeen, "weights_not_seen", "its weights were not seen at the end"},
    Words{ReasonKind::kTensorMissing, "tensor_missing", "it has no {tensor}"},
    Words{ReasonKind::kTensorAdded, "tensor_added", "it has {tensor} more"},
    Words{ReasonKind::kTensorSize, "tensor_size", "{tensor} has another size"},
    Words{ReasonKind::kTensorBegin, "tensor_begin", "{tensor} begins with other numbers"},
    Words{ReasonKind::kTensorGradients, "tensor_gradients",
          "{tensor} gets a gradient in other steps: {differ:.0f} of {of:.0f} differ"},
    Words{
        ReasonKind::kTensorGradientCount, "tensor_gradient_count",
        "{tensor} gets a gradient in {steps:.0f} steps, and in {expected:.0f} of the job as it is"},
    Words{ReasonKind::kTensorWay, "tensor_way",
          "{tensor} is {share:.0%} of its way off behind the first steps"},
    Words{ReasonKind::kTensorMoves, "tensor_moves",
          "{tensor} moves, and does not in the job as it is"},
    Words{ReasonKind::kTensorMoved, "tensor_moved",
          "{tensor} has moved by {moved:.2g}, and by {expected:.2g} in the job as it is"},

    Words{ReasonKind::kNotRunAsWritten, "not_run_as_written",
          "it was not run as it is written: {0}"},
    Words{ReasonKind::kNoChangeAsWritten, "no_change_as_written",
          "no change of the script is given: as it is written, {0}"},
};

/// What of a step a lever eases.
struct Eased {
  std::string_view name;
  std::string_view words;
};
constexpr std::array kEased = {
    Eased{"compute", "what the device computes"},
    Eased{"products", "products in float32"},
    Eased{"precision", "products in float32 and what moves between them"},
    Eased{"fusion", "what is no product of matrices"},
    Eased{"launches", "waiting for the host's launches"},
    Eased{"optimizer", "the optimizer's step"},
    Eased{"zeroing", "zero_grad()"},
    Eased{"memory", "calls for memory of the device"},
    Eased{"host_memory", "the system's work, mostly for memory,"},
    Eased{"copies", "copies to the device"},
    Eased{"threads", "what runs on the CPUs"},
    Eased{"loading", "waiting for data"},
};

const Words* find_words(ReasonKind kind) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [kind](const Words& words) { return words.kind == kind; });
  return found == kWords.end() ? nullptr : &*found;
}

std::string number_words(double value, std::string_view how) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  if (how == "GiB") return fmt::format("{:.2f}", value / kGiB);
  if (how == "times") return fmt::format("{:.0f} time{}", value, value == 1 ? "" : "s");
  if (how.ends_with('%')) {
    std::string_view digits = how.substr(0, how.size() - 1);
    const bool has_kind = !digits.empty() && digits.back() >= 'a' && digits.back() <= 'z';
    const std::string format = fmt::format("{{:{}{}}} %", digits, has_kind ? "" : "f");
    return fmt::format(fmt::runtime(format), 100 * value);
  }
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}", how)), value);
}

struct FactWords {
  std::string_view name;
  std::string_view how;

  std::string operator()(double value) const { return number_words(value, how); }
  std::string operator()(const std::string& text) const {
    if (name != "eases") return text;
    const auto found = std::find_if(kEased.begin(), kEased.end(),
                                    [&text](const Eased& eased) { return eased.name == text; });
    return std::string(found == kEased.end() ? std::string_view(text) : found->words);
  }
  std::string operator()(const std::vector<std::string>& names) const {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  std::string operator()(const predict::Speedup& speed) const {
    return fmt::format("{:.3f}x [{:.3f}..{:.3f}]", speed.speedup, speed.low, speed.high);
  }
};

/// What stands in the place of "share:.1%" or "0".
std::string words_of_part(const Reason& reason, std::string_view part) {
  const std::size_t colon = std::min(part.find(':'), part.size());
  const std::string_view name = part.substr(0, colon);
  const std::string_view how = part.substr(std::min(colon + 1, part.size()));
  if (name == "0" || name == "1") {
    const std::size_t at = name == "0" ? 0 : 1;
    return at < reason.because.size() ? reason_words(reason.because[at]) : std::string();
  }
  for (const tune::Fact& fact : reason.facts) {
    if (fact.name == name) return std::visit(FactWords{name, how}, fact.value);
  }
  return {};
}

struct FactJson {
  nlohmann::json operator()(double value) const { return value; }
  nlohmann::json operator()(const std::string& text) const { return text; }
  nlohmann::json operator()(const std::vector<std::string>& names) const { return names; }
  nlohmann::json operator()(const predict::Speedup& speed) const {
    return {{"speedup", speed.speedup}, {"low", speed.low}, {"high", speed.high}};
  }
};

}  // namespace

std::string reason_words(const Reason& reason) {
  const Words* const known = find_words(reason.kind);
  if (known == nullptr) return {};
  std::string text;
  std::string_view rest = known->words;
  for (std::size_t open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
    const std::size_t close = rest.find('}', open);
    text += rest.substr(0, open);
    text += words_of_part(reason, rest.substr(open + 1, close - open - 1));
    rest = rest.substr(close + 1);
  }
  return text += rest;
}

nlohmann::json reason_json(const Reason& reason) {
  const Words* const known = find_words(reason.kind);
  if (known == nullptr) return nullptr;
  nlohmann::json json = {{"kind", known->name}};
  for (const tune::Fact& fact : reason.facts) {
    json[std::string(fact.name)] = std::visit(FactJson(), fact.value);
  }
  for (const Reason& part : reason.because) json["because"].push_back(reason_json(part));
  return json;
}

std::string own_results_words(const tune::OwnResults& own) {
  if (!own.were_compared) return {};
  if (own.why_not) return reason_words(own.why_not);
  const std::string losses = own.are_repeatable ? "two runs of one seed have the same losses"
                                                : "two runs of one seed differ in their losses";
  return losses + (own.gradient_error
                       ? fmt::format("; its first gradient is {:.2g} % away from that in FP64",
                                     100 * *own.gradient_error)
                       : "; its first gradient in FP64 is not known");
}

}  // namespace unstarve::report
