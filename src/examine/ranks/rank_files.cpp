#include "examine/ranks/rank_files.h"

#include <set>
#include <utility>

#include "diagnose/partition/rank_rows.h"
#include "diagnose/rank_finding.h"

namespace unstarve::examine {

namespace {

bool are_of_one_job(const std::vector<diagnose::RankRow>& rows) {
  std::set<std::int64_t> numbers;
  for (const diagnose::RankRow& row : rows) {
    if (!row.number || !row.ranks || *row.ranks != rows.front().ranks.value_or(0)) return false;
    numbers.insert(*row.number);
  }
  return rows.size() > 1 && numbers.size() == rows.size();
}

std::size_t least_computing(const std::vector<diagnose::RankRow>& rows) {
  std::size_t least = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].compute.value_or(1) < rows[least].compute.value_or(1)) least = i;
  }
  return least;
}

}  // namespace

std::optional<std::size_t> join_ranks(std::vector<Examination>& examined) {
  diagnose::RankComparison ranks;
  for (const Examination& examination : examined) {
    const diagnose::PartitionedJob& job = examination.recording->partitioned;
    const auto own = diagnose::rank_rows(job.job, job.devices);
    if (own.size() != 1) return std::nullopt;  // it holds several ranks itself
    ranks.rows.push_back(own.front());
  }
  if (!are_of_one_job(ranks.rows)) return std::nullopt;
  ranks.straggler = diagnose::find_straggler(ranks.rows);
  const std::size_t chosen = ranks.straggler ? ranks.straggler->row : least_computing(ranks.rows);
  Examination& spoken_of = examined[chosen];
  for (std::size_t i = 0; i < examined.size(); ++i) {
    if (i != chosen) cost::add_rank(examined[i].usage, spoken_of.usage);
  }
  diagnose::add_ranks(std::move(ranks), spoken_of.diagnosis);
  spoken_of.predictions.gains.clear();
  spoken_of.predictions.notes.clear();
  predict(spoken_of, {});
  spoken_of.advice = advise::advise(spoken_of.diagnosis, spoken_of.job, spoken_of.predictions);
  return chosen;
}

}  // namespace unstarve::examine
