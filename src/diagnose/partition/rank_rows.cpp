#include "diagnose/partition/rank_rows.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "diagnose/partition/whole_span.h"
#include "job/rank/recorded.h"

namespace unstarve::diagnose {

namespace {

RankRow row_of(const job::Rank& rank) {
  RankRow row;
  row.process = rank.process;
  row.number = rank.number;
  row.ranks = rank.of;
  const std::vector<trace::Step> steps = rank.training_steps();
  const trace::RowTotals& thinned = rank.thinned_training;
  auto sum_ns = static_cast<double>(thinned.ns);
  for (const trace::Step& step : steps) sum_ns += static_cast<double>(step.when.duration_ns());
  const double count = static_cast<double>(steps.size()) + static_cast<double>(thinned.rows);
  if (count > 0) row.step_us = sum_ns / kNsPerUs / count;
  return row;
}

/// What people call a collective, by the name of its kernel.
std::string_view collective_of(std::string_view kernel) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{
      {"AllReduce", "all-reduce"},
      {"ReduceScatter", "reduce-scatter"},
      {"AllGather", "all-gather"},
      {"Broadcast", "broadcast"},
      {"AllToAll", "all-to-all"},
      {"SendRecv", "send and receive"},
  }};
  for (const auto& [name, word] : kWords) {
    if (kernel.find(name) != kernel.npos) return word;
  }
  return {};
}

/// The one that takes most of a device's time.
std::string main_collective(const trace::Timeline& timeline, std::int32_t device) {
  std::map<std::string_view, std::int64_t> spent;
  for (const trace::DeviceOp& op : timeline.device_ops) {
    if (op.device != device || op.kind != trace::DeviceOpKind::kCommunication) continue;
    spent[collective_of(timeline.name_of(op.name))] += op.end_ns - op.start_ns;
  }
  std::string_view most;
  std::int64_t longest = 0;
  for (const auto& [word, ns] : spent) {
    if (ns > longest) most = word;
    longest = std::max(longest, ns);
  }
  return std::string(most);
}

void add_shares(const DevicePartition& partition, const job::Rank& rank, RankRow& row) {
  const auto shares = shares_of_span(partition, rank);
  const auto share_of = [&shares](Cause cause) { return shares[static_cast<std::size_t>(cause)]; };
  row.device = partition.device;
  row.input_wait = share_of(Cause::kInputWait);
  row.compute = share_of(Cause::kGpuCompute);
  row.communication = share_of(Cause::kExposedCommunication);
  row.copy = share_of(Cause::kExposedCopy);
  row.sync = share_of(Cause::kSync);
  row.host = share_of(Cause::kLaunch) + share_of(Cause::kKernelWait) + share_of(Cause::kOther);
}

void add_waits(const job::Rank& rank, RankRow& row) {
  if (!rank.span || rank.waits.empty()) return;
  const std::int64_t span_ns = (*rank.span).duration_ns();
  if (span_ns <= 0) return;
  row.input_wait =
      static_cast<double>(job::covered_ns(rank.waits, *rank.span) + rank.thinned.wait_ns) /
      static_cast<double>(span_ns);
}

}  // namespace

std::vector<RankRow> rank_rows(const job::JobView& job,
                               const std::vector<DevicePartition>& devices) {
  std::vector<RankRow> rows;
  for (const DevicePartition& partition : devices) {
    const job::Rank& rank = job.ranks()[partition.rank];
    rows.push_back(row_of(rank));
    add_shares(partition, rank, rows.back());
    rows.back().collective = main_collective(job.timeline(), partition.device);
  }
  if (!rows.empty()) return rows;
  for (const job::Rank& rank : job.ranks()) {
    rows.push_back(row_of(rank));
    add_waits(rank, rows.back());
  }
  return rows;
}

}  // namespace unstarve::diagnose
