#include "advise/rank_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/parts/step_bounds.h"
#include "advise/verdict.h"
#include "base/number_words.h"
#include "diagnose/words/wording.h"
#include "predict/speedup.h"
#include "predict/step_edit.h"

namespace unstarve::advise {

namespace {

using diagnose::Diagnosis;
using diagnose::RankRow;
using diagnose::Straggler;

bool is_cause_of(std::string_view cause, std::string_view because) {
  if (because == "host") return cause == "launch" || cause == "kernel_wait" || cause == "other";
  if (because == "compute") return cause == "gpu_busy";
  if (because == "copy") return cause == "exposed_copy";
  return cause == because;
}

std::string reason(const Diagnosis& diagnosis, const Advice& advice, const JobFacts& job) {
  const std::string& because = diagnosis.ranks.straggler->because;
  if (because == "compute") return " because its GPU computes longer";
  if (because == "host") return " because its host launches the next work later";
  if (because == "copy") return " because of its copies";
  if (because == "sync") return " because its host waits for the GPU and queues nothing meanwhile";
  if (because != "input_wait") return ", for no one reason";
  std::string text = " because it waits for its data loader" + diagnose::at(job.loader_place);
  if (!advice.leading_finding) return text;
  const diagnose::Finding& finding = diagnosis.findings[*advice.leading_finding];
  if (finding.cause != because) return text;  // another cause leads, and this is said after it
  const std::string_view detail = detail_words(finding);
  return detail.empty() ? text : text + fmt::format(", mostly because of {}", detail);
}

std::string who_waits(const Diagnosis& diagnosis) {
  const diagnose::RankComparison& ranks = diagnosis.ranks;
  const std::string others =
      ranks.rows.size() == 2 ? "the other rank waits" : "the other ranks wait";
  if (!ranks.straggler->seen_waiting) {
    return others + " for it, since all make the same steps";
  }
  const auto waiting =
      std::find_if(ranks.rows.begin(), ranks.rows.end(), [&ranks](const RankRow& row) {
        return &row != &ranks.rows[ranks.straggler->row] && !row.collective.empty();
      });
  return others + " for it in " +
         (waiting == ranks.rows.end() ? "communication" : waiting->collective);
}

/// From half of what the others wait for it, since another rank may be the next to be late, to all
/// of it.
std::string gain_without(const Straggler& straggler, double most) {
  const predict::Speedup gain = predict::predict_step_edit(
      {.removed = part_of(straggler.late_ratio, 0.5, 1), .at_least = {1 / most, 1 / most}});
  return "Were it as fast as the others, the job would be " + speedup_words(gain);
}

}  // namespace

bool straggler_leads(const Diagnosis& diagnosis) {
  constexpr double kAsLarge = 0.5;  // of the largest finding
  const std::optional<Straggler>& straggler = diagnosis.ranks.straggler;
  if (!straggler) return false;
  return diagnosis.findings.empty() || diagnosis.findings.front().cause == "gpu_busy" ||
         straggler->late_ratio >= kAsLarge * diagnosis.findings.front().share;
}

std::optional<std::size_t> finding_of_straggler(const Diagnosis& diagnosis) {
  if (!diagnosis.ranks.straggler) return std::nullopt;
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    if (is_cause_of(diagnosis.findings[i].cause, diagnosis.ranks.straggler->because)) return i;
  }
  return std::nullopt;
}

std::string write_rank_verdict(const Diagnosis& diagnosis, const Advice& advice,
                               const JobFacts& job) {
  const diagnose::RankComparison& ranks = diagnosis.ranks;
  const Straggler& straggler = *ranks.straggler;
  const RankRow& late = ranks.rows[straggler.row];
  std::string name = diagnose::capitalised(diagnose::name_of(late));
  if (late.number && late.ranks) name += fmt::format(" of {}", *late.ranks);
  const bool emulated =
      std::any_of(diagnosis.devices.begin(), diagnosis.devices.end(),
                  [](const diagnose::DeviceDiagnosis& device) { return device.info.emulated; });
  return fmt::format("{}{} is late by {} of a step{}; {}. {}", name,
                     emulated ? " (on emulated GPUs)" : "", percent_text(straggler.late_ratio),
                     reason(diagnosis, advice, job), who_waits(diagnosis),
                     gain_without(straggler, diagnose::most_that_helps(ranks)));
}

}  // namespace unstarve::advise
