#include "diagnose/rank_finding.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/number_words.h"

namespace unstarve::diagnose {

namespace {

/// Whether a finding is of the cause for which the straggler is late.
bool explains(const Finding& finding, std::string_view because) {
  if (because == "host") {
    return finding.cause == "launch" || finding.cause == "kernel_wait" || finding.cause == "other";
  }
  if (because == "compute") return finding.cause == "gpu_busy";
  if (because == "copy") return finding.cause == "exposed_copy";
  return finding.cause == because;
}

std::string evidence(const RankComparison& ranks) {
  const RankRow& late = ranks.rows[ranks.straggler->row];
  const std::string others = ranks.rows.size() == 2 ? "the other" : "the others";
  if (!ranks.straggler->seen_waiting) {
    return fmt::format(
        "{} waits {} of its steps for its loader, {} {}, and all make the same steps",
        name_of(late), percent_text(late.input_wait.value_or(0)), others,
        percent_text(mean_of_others(ranks, &RankRow::input_wait)));
  }
  return fmt::format(
      "{} communicates {} of its steps with no compute beside it, {} {}: whoever is late waits "
      "least there",
      name_of(late), percent_text(late.communication.value_or(0)), others,
      percent_text(mean_of_others(ranks, &RankRow::communication)));
}

}  // namespace

void add_ranks(RankComparison ranks, Diagnosis& diagnosis) {
  if (ranks.straggler) {
    for (Finding& finding : diagnosis.findings) {
      if (!explains(finding, ranks.straggler->because)) continue;
      finding.evidence.insert(finding.evidence.begin(), evidence(ranks));
      break;
    }
  }
  diagnosis.ranks = std::move(ranks);
}

}  // namespace unstarve::diagnose
