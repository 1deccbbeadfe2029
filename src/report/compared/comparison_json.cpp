#include "report/compared/comparison_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/compared/comparison_document.h"
#include "report/compared/comparison_words.h"
#include "report/costs/cost_json.h"
#include "report/words/json_text.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

using Document = nlohmann::ordered_json;

Document reading_json(const Reading<double>& value) {
  if (!value) return {{"absent", std::string(to_string(value.why_absent()))}};
  return std::isfinite(*value) ? Document(*value) : Document{{"absent", "not_observed"}};
}

Document change_json(const Reading<compare::Change>& change) {
  if (!change) return {{"absent", std::string(to_string(change.why_absent()))}};
  return {{"value", change->value},
          {"low", reading_json(change->low)},
          {"high", reading_json(change->high)}};
}

std::string_view unit_name(compare::Unit unit) {
  switch (unit) {
    case compare::Unit::kMicroseconds: return "us";
    case compare::Unit::kMilliseconds: return "ms";
    case compare::Unit::kRatio: return "ratio";
    case compare::Unit::kPerSecond: return "1/s";
    case compare::Unit::kBytes: return "bytes";
    case compare::Unit::kJoules: return "J";
  }
  return "";
}

std::string_view reason_name(compare::MovedBy kind) {
  switch (kind) {
    case compare::MovedBy::kStage: return "loading_stage";
    case compare::MovedBy::kWorkers: return "workers";
    case compare::MovedBy::kNeighbours: return "neighbours";
    case compare::MovedBy::kWorkerStarts: return "worker_starts";
    case compare::MovedBy::kLine: return "line";
    case compare::MovedBy::kEvent: return "event";
    case compare::MovedBy::kLaunches: return "launches";
    case compare::MovedBy::kSyncs: return "syncs";
    case compare::MovedBy::kFloatProducts: return "float_products";
    case compare::MovedBy::kMemoryKernels: return "memory_kernels";
    case compare::MovedBy::kPageable: return "pageable";
    case compare::MovedBy::kCopiedBytes: return "copied_bytes";
  }
  return "";
}

Document moved_json(const compare::Moved& moved) {
  Document json = {{"part", moved.part.part},
                   {"points", 100 * (moved.part.share_b - moved.part.share_a)}};
  if (!moved.reason) return json;
  const compare::MovedReason& reason = *moved.reason;
  const std::string what =
      reason.kind == compare::MovedBy::kEvent ? std::string(event_name(reason.event)) : reason.what;
  json["reason"] = {{"kind", std::string(reason_name(reason.kind))},
                    {"what", what},
                    {"place", reason.place},
                    {"a", reason.a},
                    {"b", reason.b}};
  return json;
}

Document findings_json(const std::vector<compare::FindingOf>& findings) {
  Document list = Document::array();
  for (const compare::FindingOf& finding : findings) {
    list.push_back(
        {{"cause", finding.cause}, {"detail", finding.detail}, {"share", finding.share}});
  }
  return list;
}

Document measures_json(const compare::Comparison& comparison) {
  Document list = Document::array();
  for (const compare::MeasureRow& row : comparison.measures) {
    list.push_back({{"id", std::string(row.id)},
                    {"unit", std::string(unit_name(row.unit))},
                    {"more_is_worse", row.more_is_worse},
                    {"a", reading_json(row.a)},
                    {"b", reading_json(row.b)},
                    {"change_ratio", change_json(row.change)},
                    {"noise_ratio", reading_json(row.noise_ratio)}});
  }
  return list;
}

Document cost_document(const compare::WorkCost& cost) {
  Document rates = {{"carbon_g_per_kwh", rate_json(cost.carbon_g_per_kwh)},
                    {"pue", rate_json(cost.pue)}};
  if (cost.price_a) rates["usd_per_gpu_hour_a"] = rate_json(*cost.price_a);
  if (cost.price_b) rates["usd_per_gpu_hour_b"] = rate_json(*cost.price_b);
  return {{"of", cost.of_samples ? "1000_samples" : "1000_steps"},
          {"a", amount_json(cost.a)},
          {"b", amount_json(cost.b)},
          {"given_back_a_month", amount_json(cost.month)},
          {"rates", std::move(rates)}};
}

}  // namespace

nlohmann::ordered_json comparison_document(const compare::Comparison& comparison) {
  Document causes = Document::array();
  for (const compare::PartTime& part : comparison.parts) {
    causes.push_back({{"cause", part.part},
                      {"share", {{"a", part.share_a}, {"b", part.share_b}}},
                      {"us", {{"a", part.us_a}, {"b", part.us_b}}}});
  }
  Document differing = Document::array();
  for (const compare::Difference& difference : comparison.differences) {
    differing.push_back({{"group", std::string(compare::to_string(difference.group))},
                         {"name", difference.name},
                         {"a", difference.a},
                         {"b", difference.b}});
  }
  Document document = {
      {"schema", "unstarve.comparison/1"},
      {"sentence", comparison_sentence(comparison)},
      {"a", {{"name", comparison.a}, {"runs", comparison.runs_a}}},
      {"b", {{"name", comparison.b}, {"runs", comparison.runs_b}}},
      {"emulated", comparison.emulated},
      {"time_of", comparison.by_sample ? "sample" : "step"},
      {"measures", measures_json(comparison)},
      {"causes", std::move(causes)},
      {"moved", comparison.moved ? moved_json(*comparison.moved) : Document(nullptr)},
      {"findings",
       {{"came", findings_json(comparison.came)}, {"went", findings_json(comparison.went)}}},
      {"differences", std::move(differing)},
      {"script_diff", comparison.script_diff}};
  if (comparison.cost) document["cost"] = cost_document(*comparison.cost);
  return document;
}

std::string comparison_json(const compare::Comparison& comparison) {
  return json_text(comparison_document(comparison));
}

}  // namespace unstarve::report
