#include "trace/thinning/totals.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace unstarve::trace {

namespace {

constexpr const char* kUpsert =
    "INSERT INTO thinned VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) "
    "ON CONFLICT DO UPDATE SET to_ns = max(to_ns, ?6), rows = rows + ?7, ns = ns + ?8, "
    "wait_ns = wait_ns + ?9, samples = samples + ?10, sampled_ns = sampled_ns + ?11, "
    "sampled_rows = sampled_rows + ?12, value = value + ?13";

}  // namespace

RowTotals& RowTotals::operator+=(const RowTotals& other) {
  rows += other.rows;
  ns += other.ns;
  wait_ns += other.wait_ns;
  samples += other.samples;
  sampled_ns += other.sampled_ns;
  sampled_rows += other.sampled_rows;
  value += other.value;
  return *this;
}

Status create_thinned(Database& database) {
  return database.execute(
      "CREATE TABLE IF NOT EXISTS thinned (what TEXT, pid INTEGER, tid INTEGER, subject TEXT, "
      "from_ns INTEGER, to_ns INTEGER, rows INTEGER, ns INTEGER, wait_ns INTEGER, "
      "samples INTEGER, sampled_ns INTEGER, sampled_rows INTEGER, value REAL, "
      "PRIMARY KEY (what, pid, tid, subject, from_ns)) WITHOUT ROWID");
}

Status add_totals(Database& database, const Interval& block, const TotalsBy& totals) {
  Result<Statement> upsert = database.prepare(kUpsert);
  if (!upsert) return forward_error(upsert);
  for (const auto& [key, sums] : totals) {
    const Status added = upsert->run(
        {key.what, key.process, key.thread, key.subject, block.start_ns, block.end_ns, sums.rows,
         sums.ns, sums.wait_ns, sums.samples, sums.sampled_ns, sums.sampled_rows, sums.value});
    if (!added) return added;
  }
  return {};
}

Status merge_blocks(Database& database, const SlotPlan& plan) {
  const Interval first = plan.block_of(0);
  const std::string sql = fmt::format(
      "CREATE TEMP TABLE merged AS SELECT what, pid, tid, subject, "
      "{0} + (from_ns - {0}) / {1} * {1} AS start_ns, {0} + (from_ns - {0}) / {1} * {1} + {1}, "
      "sum(rows), sum(ns), sum(wait_ns), sum(samples), sum(sampled_ns), sum(sampled_rows), "
      "sum(value) FROM thinned GROUP BY what, pid, tid, subject, start_ns;"
      "DELETE FROM thinned; INSERT INTO thinned SELECT * FROM merged; DROP TABLE merged",
      first.start_ns, first.duration_ns());
  return database.execute(sql.c_str());
}

Status store_plan(Database& database, const SlotPlan& plan) {
  const nlohmann::json json = {
      {"origin_ns", plan.origin_ns}, {"slot_ns", plan.slot_ns}, {"level", plan.level}};
  Result<Statement> put = database.prepare("INSERT OR REPLACE INTO run VALUES ('thinning', ?)");
  if (!put) return forward_error(put);
  return put->run({json.dump()});
}

}  // namespace unstarve::trace
