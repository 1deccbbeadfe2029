#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "base/result.h"
#include "trace/store/sqlite.h"

namespace unstarve::observe {

/// How many rows are read of a file in all, whatever it claims to hold.
struct RowBudget {
  std::uint64_t rows = 0;
  std::uint64_t most = 0;
};

/// Reads one table of an Nsight Systems export, row by row. Tables and columns come and go with the
/// version of the schema: a table that is not there has no rows, and in a column that is not there
/// every value is absent.
///
///   auto gpus = ExportTable::open(database, "TARGET_INFO_GPU", {"id", "name"}, budget);
///   while (*gpus->next()) use(gpus->integer(0), gpus->text(1));
///
/// Views and virtual tables count as not there.
class ExportTable {
 public:
  static Result<ExportTable> open(const trace::Database& database, std::string_view table,
                                  std::initializer_list<std::string_view> columns,
                                  RowBudget& budget);

  bool is_there() const { return there_; }
  /// Whether the table has the column, by its place in the list given to open().
  bool has(std::size_t column) const { return at_[column] >= 0; }
  /// True: a row is there. False: no more.
  Result<bool> next();

  Reading<std::int64_t> integer(std::size_t column) const;
  /// Empty where there is none; lives until the next call of next().
  std::string_view text(std::size_t column) const;

 private:
  explicit ExportTable(RowBudget& budget) : budget_(&budget) {}

  RowBudget* budget_;
  trace::Statement rows_;
  std::vector<int> at_;  // where in a row each column stands; -1: nowhere
  bool there_ = false;
};

/// Whether the file has that table, with rows of its own.
Result<bool> has_table(const trace::Database& database, std::string_view table);

}  // namespace unstarve::observe
