#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// One row of the table that ends a verified run: the state before, or one remedy.
struct ComparisonRow {
  std::string what;
  std::string relative_to;  // the row its speed-up refers to, when that is not the last "before"
  Measurement measurement;
  std::optional<Reading<predict::Speedup>> predicted;  // none in a "before" row
  std::optional<predict::Speedup> measured;
  std::optional<bool> held;  // none where nothing had been predicted
};

/// The rows in the order in which they were measured. A "before" row is shared by the verifications
/// that have the very same one; a remedy measured on top of an earlier one refers to its row.
std::vector<ComparisonRow> comparison_rows(const std::vector<Verification>& verification);

/// True when at least one row has this reading: a column that nobody can fill is left out.
bool any_has(const std::vector<ComparisonRow>& rows, Reading<double> Measurement::*reading);

}  // namespace unstarve::report
