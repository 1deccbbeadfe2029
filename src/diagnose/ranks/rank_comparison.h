#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/reading.h"

namespace unstarve::diagnose {

/// How one rank of a distributed job spends its steps: shares of its time, as in the partition.
/// What was not observed of it is absent.
struct RankRow {
  Reading<std::int64_t> number = {};  // the rank's, as the job numbers them
  Reading<std::int64_t> ranks = {};   // how many the job has
  std::int64_t process = 0;
  Reading<std::int64_t> device = {};  // absent: only its host was recorded
  Reading<double> step_us = {};       // in the mean
  Reading<double> input_wait = {};
  Reading<double> compute = {};
  Reading<double> communication = {};  // with no compute beside it
  Reading<double> copy = {};           // likewise
  Reading<double> sync = {};
  Reading<double> host = {};    // launch, kernel_wait and other
  std::string collective = {};  // most of the communication: "all-reduce"; empty: no telling
};

/// The rank that the others wait for.
struct Straggler {
  std::size_t row = 0;
  double late_ratio = 0;     // of a step: what the others wait for it, in the mean
  std::string because;       // "input_wait", "compute", "host", "copy", "sync"; empty: no one thing
  double because_ratio = 0;  // of a step: how much more it spends with that than the others
  bool seen_waiting = true;  // the others' waits were recorded; else they follow from equal steps
};

/// The ranks of one job beside each other. No rows where there is one rank alone.
struct RankComparison {
  std::vector<RankRow> rows;
  std::optional<Straggler> straggler;
};

/// Says who waits for whom. A job's ranks wait for each other in every step, so that whoever waits
/// least is late: what the others wait more is how late. Nobody is where the rows are not of ranks
/// that step together, or where it makes less than 5 % of a step.
std::optional<Straggler> find_straggler(const std::vector<RankRow>& rows);

/// How much faster a job can become by what is done about its straggler alone or about everybody's
/// loader: until another rank's own work is what a step takes.
double most_that_helps(const RankComparison& ranks);

/// How much of a step the other ranks spend with something, in the mean.
double mean_of_others(const RankComparison& ranks, Reading<double> RankRow::*share);

/// "rank 1", or "the rank on GPU 1" where nobody numbered them.
std::string name_of(const RankRow& row);

}  // namespace unstarve::diagnose
