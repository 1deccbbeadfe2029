#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace unstarve::runs {

struct Blob {
  std::string bytes;
};
/// A value as SQLite has it.
using Cell = std::variant<std::nullptr_t, std::int64_t, double, std::string, Blob>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;  // a cell for each column
  std::string cut;                      // why there are no more rows; empty: these are all
};

struct QueryBounds {
  double timeout_s = 30;
  std::int64_t rows_most = 10'000;
  std::int64_t bytes_most = 64 << 20;  // of all rows
};

/// The rows of one SELECT over a run, or over a folder of runs (docs/formats/query.md).
/// Errors: find_runs()'s; the run cannot be read; kInvalidArgument where the statement is wrong or
/// asks for more than reading; kTimeout; kOutOfMemory.
Result<QueryResult> query(const std::string& folder, const std::string& sql,
                          const QueryBounds& bounds, const Clock& clock);

}  // namespace unstarve::runs
