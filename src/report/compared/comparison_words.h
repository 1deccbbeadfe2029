#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"

namespace unstarve::report {

/// "B takes 9.1 % longer a step [8.2..10.0]: 11 points more waiting for data, because decoding
/// takes 31 % more time a sample (4.10 -> 5.37 ms, data.py:14); the GPU's own work is the same."
std::string comparison_sentence(const compare::Comparison& comparison);

/// The first part of it: "B takes 9.1 % longer a step [8.2..10.0]".
std::string comparison_headline(const compare::Comparison& comparison);
/// The rest: what moved, and why; or, where the time did not, what else did. May be empty.
std::string comparison_cause(const compare::Comparison& comparison);

/// What the interval is worth: "This pair only: how much runs of the same differ is not known."
std::string noise_note(const compare::Comparison& comparison);

/// "12.3 ms", "41.0 %", "1.31 GB"; "-" where it is absent.
std::string value_text(const Reading<double>& value, compare::Unit unit);

/// "+9.1 % [+8.2..+10.0]"; "-" where it is absent.
std::string change_text(const Reading<compare::Change>& change);

/// "waiting for data" of "input_wait": a part of a step's time for people.
std::string_view part_words(std::string_view part);

/// "the loader's num_workers: 4 -> 2"
std::string difference_text(const compare::Difference& difference);

/// "input_wait / decode_cpu (34 %)"
std::string finding_text(const compare::FindingOf& finding);

/// A row of what both sides take for the same work: {"price", "$0.91", "$0.31", "-66.0 %"}.
struct WorkCostRow {
  std::string name;
  std::string a;
  std::string b;
  std::string change;
};
/// Those of which a side knows something.
std::vector<WorkCostRow> work_cost_rows(const compare::WorkCost& cost);
/// "1,000 samples"
std::string_view work_words(const compare::WorkCost& cost);
/// "For the same work as A in a month B gives back $440, 0.8 GPU-hours, ..." and where prices are
/// from; empty where nothing is known.
std::string work_cost_sentence(const compare::WorkCost& cost);

/// Rows that a table shows: without those of which the other says the same.
std::vector<const compare::MeasureRow*> shown_rows(const compare::Comparison& comparison);

}  // namespace unstarve::report
