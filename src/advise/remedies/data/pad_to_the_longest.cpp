#include <fmt/format.h>

#include <algorithm>

#include "advise/catalogue.h"
#include "advise/parts/step_bounds.h"
#include "base/number_words.h"

namespace unstarve::advise {

namespace {

std::optional<Remedy> offer_pad_to_the_longest(const Situation& situation, std::string_view rule) {
  if (rule != "padding") return std::nullopt;
  Remedy remedy;
  remedy.how = fmt::format(
      "Pad each batch to its longest text, not to a fixed length: tokenize without "
      "padding='max_length', pad in the collate function (DataCollatorWithPadding, "
      "pad_to_multiple_of=8). {} of the columns are padding.",
      percent_text(*situation.signals.padded_ratio));
  return remedy;
}

/// The device takes as much less as there are fewer columns, or more where attention compares all
/// with all; or half of that, where its kernels are short.
Reading<predict::StepEdit> edit_pad_to_the_longest(const Situation& situation,
                                                   std::string_view /*rule*/) {
  constexpr double kLeastRemoved = 0.5;
  const diagnose::Signals& signals = situation.signals;
  const Reading<double> host = host_share(signals);
  if (!signals.gpu_compute_ratio) return signals.gpu_compute_ratio.why_absent();
  if (!host) return host.why_absent();
  const double least = std::max(*host, loader_share(signals));
  const double removed = *signals.gpu_compute_ratio * *signals.padded_ratio;
  return predict::StepEdit{.removed = part_of(removed, kLeastRemoved, 1),
                           .at_least = {least, least}};
}

}  // namespace

CatalogueEntry pad_to_the_longest_remedy() {
  return {.id = "pad_to_the_longest",
          .effort = Effort::kArgument,
          .offer = offer_pad_to_the_longest,
          .edit = edit_pad_to_the_longest};
}

}  // namespace unstarve::advise
