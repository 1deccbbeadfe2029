#include "trace/thinning/read_thinned.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "trace/json/json_text.h"

namespace unstarve::trace {

namespace {

constexpr int kMostLevels = 40;

std::int64_t integer_at(const nlohmann::json& json, const char* key, std::int64_t otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return otherwise;
  return found->get<std::int64_t>();
}

/// "loader:stage".
bool read_subject(std::string_view text, StageRow& row) {
  const auto split = text.find(':');
  if (split == text.npos) return false;
  int stage = -1;
  std::from_chars(text.data(), text.data() + split, row.loader_id);
  std::from_chars(text.data() + split + 1, text.data() + text.size(), stage);
  if (stage < 0 || stage > static_cast<int>(LoaderStage::kBatch)) return false;
  row.stage = static_cast<LoaderStage>(stage);
  return true;
}

}  // namespace

SlotPlan parse_plan(std::string_view text) {
  SlotPlan plan;
  const nlohmann::json json = parse_json(text);
  if (!json.is_object()) return plan;
  plan.origin_ns = std::max<std::int64_t>(0, integer_at(json, "origin_ns", 0));
  plan.slot_ns = std::max<std::int64_t>(1, integer_at(json, "slot_ns", plan.slot_ns));
  const std::int64_t level = integer_at(json, "level", 0);
  plan.level = static_cast<int>(std::clamp<std::int64_t>(level, 0, kMostLevels));
  return plan;
}

Result<TotalsBy> read_thinned(const Database& database) {
  TotalsBy totals;
  const Status read = for_each_row(
      database,
      "SELECT what, pid, tid, subject, sum(rows), sum(ns), sum(wait_ns), sum(samples), "
      "sum(sampled_ns), sum(sampled_rows), total(value) FROM thinned "
      "WHERE what NOT IN ('sample', 'stage') GROUP BY what, pid, tid, subject",
      {}, [&totals](const Statement& row) {
        const TotalsKey key = {std::string(row.text(0)), row.integer(1), row.integer(2),
                               std::string(row.text(3))};
        totals[key] = {row.integer(4), row.integer(5), row.integer(6), row.integer(7),
                       row.integer(8), row.integer(9), row.real(10)};
      });
  if (!read) return forward_error(read);
  return totals;
}

Status read_thinned_stages(const Database& database, RunSink& sink) {
  return for_each_row(
      database,
      "SELECT pid, subject, from_ns, to_ns, samples, sampled_rows, value FROM thinned "
      "WHERE what = 'stage'",
      {}, [&sink](const Statement& row) {
        StageRow stage;
        if (!read_subject(row.text(1), stage)) return;
        stage.pid = row.integer(0);
        stage.when = {row.integer(2), row.integer(3)};
        if (row.integer(5) > 0) stage.amount = row.integer(4);
        stage.spent_ns = whole_number<std::int64_t>(row.real(6));
        sink.add(stage);
      });
}

Result<RowTotals> read_thinned_samples(const Database& database, const MetricName& name,
                                       const Interval& when) {
  double samples = 0;
  double sum = 0;
  const Status read = for_each_row(
      database,
      "SELECT from_ns, to_ns, samples, value FROM thinned WHERE what = 'sample' AND pid = 0 AND "
      "tid = 0 AND subject IN (SELECT CAST(id AS TEXT) FROM metric WHERE name = ? AND subject = ?)",
      {name.metric, name.subject}, [&](const Statement& row) {
        const Interval block = {row.integer(0), row.integer(1)};
        const std::int64_t from_ns = std::max(block.start_ns, when.start_ns);
        const std::int64_t to_ns = std::min(block.end_ns, when.end_ns);
        if (to_ns <= from_ns) return;
        const double part =
            static_cast<double>(to_ns - from_ns) / static_cast<double>(block.duration_ns());
        samples += part * row.real(2);
        sum += part * row.real(3);
      });
  if (!read) return forward_error(read);
  RowTotals totals;
  totals.samples = whole_number<std::int64_t>(samples);
  // What is rounded of their number is not to change their mean.
  totals.value = samples > 0 ? sum / samples * static_cast<double>(totals.samples) : 0;
  return totals;
}

}  // namespace unstarve::trace
