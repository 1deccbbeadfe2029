#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/result.h"
#include "trace/store/column_types.h"
#include "trace/store/sqlite.h"
#include "trace/timeline/interval.h"

namespace unstarve::trace {

// What a table's list of columns (tables.h) gives: its SQL, and rows written and read. A type of
// C++ that a column may have has a type of SQL, a value to be bound, and a way to be read.

/// A column: its name, and what of a row it holds, as a pointer to a member or a function.
template <class Access>
struct Column {
  const char* name;
  Access access;
};

template <class Access>
constexpr Column<Access> column(const char* name, Access access) {
  return {name, access};
}

/// A member of a member.
template <class Outer, class Inner>
struct Within {
  Outer outer;
  Inner inner;
  template <class Row>
  decltype(auto) operator()(Row& row) const {
    return std::invoke(inner, std::invoke(outer, row));
  }
};
template <class Outer, class Inner>
constexpr Within<Outer, Inner> in(Outer outer, Inner inner) {
  return {outer, inner};
}

template <class Part>
constexpr auto start_of(Part when) {
  return column("start_ns", in(when, &Interval::start_ns));
}
template <class Part>
constexpr auto end_of(Part when) {
  return column("end_ns", in(when, &Interval::end_ns));
}

/// A table's name, columns and primary key (tables.h).
template <class Row>
struct Table;

struct WithoutKey {
  static constexpr std::string_view kKey = "";
};

/// Calls `each` with every column of a table and where it stands, from 0.
template <class Row, class Each>
void for_each_column(Each each) {
  std::apply(
      [&each](const auto&... columns) {
        int at = 0;
        (each(columns, at++), ...);
      },
      Table<Row>::kColumns);
}

template <class Row>
std::string create_sql() {
  std::string columns;
  for_each_column<Row>([&columns](const auto& column, int at) {
    using Value = decltype(std::invoke(column.access, std::declval<Row&>()));
    columns += fmt::format("{}{} {}", at == 0 ? "" : ", ", column.name, sql_type<Value>());
  });
  const std::string_view key = Table<Row>::kKey;
  return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}{});", Table<Row>::kName, columns,
                     key.empty() ? "" : fmt::format(", PRIMARY KEY ({})", key));
}

/// With a parameter for each column, in their order.
template <class Row>
std::string insert_sql(std::string_view how = "INSERT") {
  std::string values;
  for_each_column<Row>([&values](const auto&, int at) {
    values += fmt::format("{}?{}", at == 0 ? "" : ", ", at + 1);
  });
  return fmt::format("{} INTO {} VALUES ({})", how, Table<Row>::kName, values);
}

/// Calls `take` with a row's values, as insert_sql() has its parameters.
template <class Row, class Take>
auto with_values(const Row& row, Take take) {
  return std::apply(
      [&](const auto&... columns) {
        return take({sql_value(std::invoke(columns.access, row))...});
      },
      Table<Row>::kColumns);
}

/// Those that a table has; none: it is not there. A run of an earlier version may lack some.
Result<std::set<std::string>> column_names(const Database& database, std::string_view table);

/// Calls `each` with every row of a table and its rowid; what an earlier version did not write is
/// absent. `behind`: the query's conditions and order.
template <class Row, class Each>
Status for_each_row_of(const Database& database, std::string_view behind,
                       std::initializer_list<SqlValue> values, Each each) {
  const auto known = column_names(database, Table<Row>::kName);
  if (!known) return forward_error(known);
  if (known->empty()) return {};
  std::string wanted;
  int rowid = 0;
  for_each_column<Row>([&](const auto& column, int at) {
    wanted += known->count(column.name) == 0 ? "NULL, " : fmt::format("{}, ", column.name);
    rowid = at + 1;
  });
  const auto sql = fmt::format("SELECT {}rowid FROM {} {}", wanted, Table<Row>::kName, behind);
  return for_each_row(database, sql, values, [&](const Statement& statement) {
    Row row;
    for_each_column<Row>([&](const auto& column, int at) {
      auto&& value = std::invoke(column.access, row);
      read_column(statement, at, value);
    });
    each(std::move(row), statement.integer(rowid));
  });
}

}  // namespace unstarve::trace
