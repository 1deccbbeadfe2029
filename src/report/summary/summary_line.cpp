#include "report/summary/summary_line.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "advise/advice.h"
#include "report/headline.h"
#include "report/words/utf8.h"
#include "runs/cluster/job_records.h"
#include "trace/text/characters.h"
#include "trace/text/packed_text.h"

namespace unstarve::report {

namespace {

using Json = nlohmann::ordered_json;

/// Its first `bytes`, without half a character.
std::string cut(const std::string& text, std::size_t bytes) {
  return text.size() <= bytes ? text : std::string(trace::first_bytes(text, bytes)) + "...";
}

/// Only what is known.
void put(Json& document, const char* name, const Reading<double>& reading) {
  constexpr double kMillion = 1e6;
  if (reading && std::isfinite(*reading)) {
    document[name] = std::round(*reading * kMillion) / kMillion;
  }
}

Json gain_json(const predict::Speedup& gain) {
  Json gains = Json::array();
  for (const double value : {gain.speedup, gain.low, gain.high}) {
    constexpr double kHundred = 100;
    gains.push_back(std::round(value * kHundred) / kHundred);
  }
  return gains;
}

/// `bytes`: of each text at most.
Json document_of(const Report& report, std::size_t bytes) {
  const RunFacts& facts = report.facts;
  Json document = {{"run", cut(report.diagnosis.run_id, bytes)}};
  for (const Fact& fact : facts.scheduler) document[fact.name] = cut(fact.value, bytes);
  document["host"] = cut(facts.host, bytes);
  document["gpu"] = cut(facts.device, bytes);
  if (facts.emulated) document["emulated"] = true;
  put(document, "duration_s", facts.duration_s);
  if (facts.exit_code) document["exit"] = *facts.exit_code;
  if (!facts.exit_signal.empty()) document["signal"] = facts.exit_signal;
  document["steps"] = facts.steps;
  document["verdict"] = cut(short_headline(report), bytes);
  if (const diagnose::Finding* const finding = leading_finding(report)) {
    document["cause"] = finding->cause;
    if (!finding->detail.empty()) document["detail"] = finding->detail;
    put(document, "share", finding->share);
  }
  if (const auto& remedy = report.advice.next_remedy) {
    document["change"] = remedy->id;
    document["how"] = cut(remedy->how, bytes);
    if (remedy->predicted) document["gain"] = gain_json(*remedy->predicted);
  }
  if (report.cost) {
    put(document, "gpu_hours", report.cost->all_gpus.gpu_hours);
    put(document, "idle_gpu_hours", report.cost->idle.gpu_hours);
  }
  return document;
}

}  // namespace

Result<std::string> summary_line(const Report& report) {
  std::string line;
  for (std::size_t bytes = 256; bytes > 0; bytes /= 2) {
    const auto packed = trace::pack_text(without_controls(
        document_of(report, bytes).dump(-1, ' ', false, Json::error_handler_t::replace)));
    if (!packed) return packed;
    line = std::string(runs::kSummaryPrefix) + *packed;
    if (line.size() <= kSummaryBytesMax) break;
  }
  return line;
}

}  // namespace unstarve::report
