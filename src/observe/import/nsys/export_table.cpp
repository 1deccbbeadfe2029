#include "observe/import/nsys/export_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace unstarve::observe {

namespace {

Result<std::set<std::string, std::less<>>> columns_of(const trace::Database& database,
                                                      std::string_view table) {
  constexpr int kName = 1;
  auto described = database.prepare(fmt::format("PRAGMA table_info(\"{}\")", table));
  if (!described) return forward_error(described);
  std::set<std::string, std::less<>> columns;
  for (;;) {
    const auto more = described->next();
    if (!more) return forward_error(more);
    if (!*more) return columns;
    columns.emplace(described->text(kName));
  }
}

}  // namespace

Result<bool> has_table(const trace::Database& database, std::string_view table) {
  // Views and virtual tables have no page of their own.
  auto found = database.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?");
  if (!found) return forward_error(found);
  if (const Status bound = found->start({table}); !bound) return forward_error(bound);
  return found->next();
}

Result<ExportTable> ExportTable::open(const trace::Database& database, std::string_view table,
                                      std::initializer_list<std::string_view> columns,
                                      RowBudget& budget) {
  ExportTable reader(budget);
  reader.at_.assign(columns.size(), -1);
  const auto there = has_table(database, table);
  if (!there) return forward_error(there);
  if (!*there) return reader;
  const auto known = columns_of(database, table);
  if (!known) return forward_error(known);
  std::string list;
  int width = 0;
  std::size_t column = 0;
  for (const std::string_view name : columns) {
    if (known->contains(name)) {
      list += fmt::format("{}\"{}\"", width == 0 ? "" : ", ", name);
      reader.at_[column] = width++;
    }
    ++column;
  }
  reader.there_ = true;
  if (width == 0) return reader;
  auto rows = database.prepare(fmt::format("SELECT {} FROM \"{}\"", list, table));
  if (!rows) return forward_error(rows);
  reader.rows_ = *std::move(rows);
  return reader;
}

Result<bool> ExportTable::next() {
  if (std::all_of(at_.begin(), at_.end(), [](int at) { return at < 0; })) return false;
  const auto more = rows_.next();
  if (!more) return forward_error(more);
  if (*more && ++budget_->rows > budget_->most) {
    return fail(ErrorCode::kCorruptData, "it holds more than {} rows", budget_->most);
  }
  return *more;
}

Reading<std::int64_t> ExportTable::integer(std::size_t column) const {
  if (at_[column] < 0) return WhyAbsent::kNotObserved;
  return rows_.reading(at_[column]);
}

std::string_view ExportTable::text(std::size_t column) const {
  return at_[column] < 0 ? std::string_view() : rows_.text(at_[column]);
}

}  // namespace unstarve::observe
