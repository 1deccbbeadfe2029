#include "report/tuning/tuning_json.h"

#include <nlohmann/json.hpp>

#include "report/tuning/reason_words.h"
#include "report/tuning/tuning_text.h"
#include "report/words/json_text.h"

namespace unstarve::report {

namespace {

using UnsortedJson = nlohmann::json;

UnsortedJson absent(const char* why) { return {{"absent", why}}; }

UnsortedJson speed_json(const std::optional<predict::Speedup>& speed) {
  if (!speed) return absent("not_observed");
  return {{"speedup", speed->speedup}, {"low", speed->low}, {"high", speed->high}};
}

UnsortedJson bytes_json(std::int64_t bytes) {
  return bytes > 0 ? UnsortedJson(bytes) : absent("not_observed");
}

UnsortedJson latency_json(const tune::Latency& latency) {
  if (!latency.known()) return absent("not_observed");
  return {
      {"calls", latency.calls},
      {"median_us", 1e6 * latency.median_s},
      {"p95_us", latency.p95_s > 0 ? UnsortedJson(1e6 * latency.p95_s) : absent("not_observed")}};
}

UnsortedJson shares_json(const tune::StepShares& shares) {
  return shares.known() ? tune::to_json(shares) : absent("not_observed");
}

/// What was predicted, beside what was measured: whether the gain's lower end keeps below it.
UnsortedJson predicted_json(const tune::LeverResult& lever) {
  if (!lever.at_most) return absent("not_observed");
  return {{"at_most", *lever.at_most},
          {"held", lever.speedup ? UnsortedJson(lever.speedup->low <= *lever.at_most)
                                 : absent("not_observed")}};
}

UnsortedJson lever_json(const tune::LeverResult& lever) {
  return {{"id", lever.lever.id},
          {"what", lever.lever.what},
          {"outcome", tune::to_string(lever.outcome)},
          {"tried", lever.tried},
          {"kept", lever.is_kept()},
          {"proposed", lever.is_proposed()},
          {"speedup", speed_json(lever.speedup)},
          {"predicted", predicted_json(lever)},
          {"speedup_when_fed", speed_json(lever.speedup_when_fed)},
          {"parity", tune::to_string(lever.parity)},
          {"peak_memory_bytes", bytes_json(lever.peak_memory_bytes)},
          {"latency", latency_json(lever.latency)},
          {"pays_off_steps",
           lever.pays_off_steps > 0 ? UnsortedJson(lever.pays_off_steps) : absent("not_observed")},
          {"cold_s",
           lever.tried && lever.cold_s > 0 ? UnsortedJson(lever.cold_s) : absent("not_observed")},
          {"why", reason_words(lever.why)},
          {"reason", reason_json(lever.why)}};
}

/// Of the change as it is written, in a run of its own.
UnsortedJson as_written_json(const tune::ScriptPatch& patch) {
  UnsortedJson json = speed_json(patch.gain);
  if (patch.why_no_gain) {
    json["why"] = reason_words(patch.why_no_gain);
    json["reason"] = reason_json(patch.why_no_gain);
  }
  return json;
}

}  // namespace

std::string tuning_json(const tune::TuneResult& result) {
  UnsortedJson levers = UnsortedJson::array();
  UnsortedJson changes = UnsortedJson::array();
  for (const tune::LeverResult& lever : result.levers) {
    levers.push_back(lever_json(lever));
    if (lever.is_kept())
      changes.push_back({{"id", lever.lever.id}, {"how", lever.lever.permanent}});
  }
  UnsortedJson proposals = UnsortedJson::array();
  for (const tune::LeverResult& lever : result.levers) {
    if (lever.is_proposed()) {
      proposals.push_back({{"id", lever.lever.id}, {"how", lever.lever.permanent}});
    }
  }
  const tune::TrialResult& job = result.baseline;
  UnsortedJson runs = UnsortedJson::array();
  for (const double step_s : result.as_it_is_s) runs.push_back(step_s * 1e6);
  const UnsortedJson json = {
      {"schema", "unstarve.tune/1"},
      {"levers", levers},
      {"trials", result.trials},
      {"noise_ratio", result.noise_ratio},
      {"baseline",
       {{"step_us", tune::step_as_it_is_s(result) * 1e6},
        {"step_us_of_runs", runs},
        {"samples_per_step",
         job.samples_per_step > 0 ? UnsortedJson(job.samples_per_step) : absent("not_observed")},
        {"samples_are_rows", job.samples_are_rows},
        {"peak_memory_bytes", bytes_json(job.peak_memory_bytes)},
        {"latency", latency_json(job.latency)},
        {"shares", shares_json(job.shares)},
        {"device", job.device}}},
      {"unfinished", result.unfinished},
      {"losses", own_results_words(result.own_results)},
      {"when_fed", speed_json(result.when_fed)},
      {"proposed", proposals},
      {"settings", kept_settings(result)},
      {"patch", result.patch.diff},
      {"as_written", as_written_json(result.patch)},
      {"command", kept_command(result.command)},
      {"best", {{"speedup", speed_json(result.best)}, {"changes", changes}}}};
  return json_text(json);
}

}  // namespace unstarve::report
