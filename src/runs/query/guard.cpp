#include "runs/query/guard.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace unstarve::runs {

namespace {

constexpr std::int64_t kHeapBytesMax = std::int64_t{1} << 30;
constexpr int kOperationsPerLook = 1000;

/// Each with the largest that a statement may have. What makes a query large by accident is within
/// them; what makes SQLite's parser recurse or its virtual machine grow is not.
constexpr std::array<std::pair<int, int>, 10> kLimits = {{
    {SQLITE_LIMIT_LENGTH, 4 << 20},  // of a text or a row, bytes
    {SQLITE_LIMIT_SQL_LENGTH, 100'000},
    {SQLITE_LIMIT_COLUMN, 200},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},
    {SQLITE_LIMIT_COMPOUND_SELECT, 50},
    {SQLITE_LIMIT_VDBE_OP, 100'000},
    {SQLITE_LIMIT_FUNCTION_ARG, 50},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
}};

/// They compute from what they are given, and neither read nor write anything else.
constexpr std::array kFunctions = {"abs",
                                   "acos",
                                   "asin",
                                   "atan",
                                   "atan2",
                                   "avg",
                                   "ceil",
                                   "ceiling",
                                   "char",
                                   "coalesce",
                                   "concat",
                                   "concat_ws",
                                   "cos",
                                   "count",
                                   "cume_dist",
                                   "date",
                                   "datetime",
                                   "degrees",
                                   "dense_rank",
                                   "exp",
                                   "first_value",
                                   "floor",
                                   "format",
                                   "glob",
                                   "group_concat",
                                   "hex",
                                   "ifnull",
                                   "iif",
                                   "instr",
                                   "json",
                                   "json_array",
                                   "json_array_length",
                                   "json_extract",
                                   "json_group_array",
                                   "json_group_object",
                                   "json_object",
                                   "json_quote",
                                   "json_type",
                                   "json_valid",
                                   "julianday",
                                   "lag",
                                   "last_value",
                                   "lead",
                                   "length",
                                   "like",
                                   "ln",
                                   "log",
                                   "log10",
                                   "log2",
                                   "lower",
                                   "ltrim",
                                   "max",
                                   "min",
                                   "mod",
                                   "nth_value",
                                   "ntile",
                                   "nullif",
                                   "percent_rank",
                                   "pi",
                                   "pow",
                                   "power",
                                   "printf",
                                   "quote",
                                   "radians",
                                   "rank",
                                   "replace",
                                   "round",
                                   "row_number",
                                   "rtrim",
                                   "sign",
                                   "sin",
                                   "sqrt",
                                   "strftime",
                                   "string_agg",
                                   "substr",
                                   "substring",
                                   "sum",
                                   "tan",
                                   "time",
                                   "total",
                                   "trim",
                                   "trunc",
                                   "typeof",
                                   "unicode",
                                   "unixepoch",
                                   "upper",
                                   "->",
                                   "->>"};

/// What an action that is refused is called in SQL.
constexpr std::array<std::pair<int, std::string_view>, 19> kActions = {{
    {SQLITE_ATTACH, "ATTACH"},
    {SQLITE_DETACH, "DETACH"},
    {SQLITE_PRAGMA, "PRAGMA"},
    {SQLITE_INSERT, "writing"},
    {SQLITE_UPDATE, "writing"},
    {SQLITE_DELETE, "writing"},
    {SQLITE_TRANSACTION, "a transaction"},
    {SQLITE_SAVEPOINT, "a transaction"},
    {SQLITE_ANALYZE, "ANALYZE"},
    {SQLITE_REINDEX, "REINDEX"},
    {SQLITE_ALTER_TABLE, "ALTER TABLE"},
    {SQLITE_CREATE_TABLE, "making a table"},
    {SQLITE_CREATE_TEMP_TABLE, "making a table"},
    {SQLITE_CREATE_VIEW, "making a view"},
    {SQLITE_CREATE_TEMP_VIEW, "making a view"},
    {SQLITE_CREATE_TRIGGER, "making a trigger"},
    {SQLITE_CREATE_TEMP_TRIGGER, "making a trigger"},
    {SQLITE_CREATE_VTABLE, "making a table"},
    {SQLITE_DROP_TABLE, "DROP"},
}};

std::string lower(std::string_view name) {
  std::string result(name);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return result;
}

}  // namespace

std::string QueryGuard::refusal(int action, std::string_view first, std::string_view second) const {
  if (action == SQLITE_SELECT || action == SQLITE_RECURSIVE) return {};
  if (action == SQLITE_READ) {
    // Functions that give tables: they take a text apart and read nothing.
    const std::string table = lower(first);
    if (table == "json_each" || table == "json_tree" || tables_.count(table) > 0) return {};
    return fmt::format("the table {} cannot be read; those that can are {}", first, table_names());
  }
  if (action == SQLITE_FUNCTION) {
    const std::string name = lower(second);
    if (std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end()) return {};
    return fmt::format("the function {}() is not among those that a query may call", second);
  }
  const auto known = std::find_if(kActions.begin(), kActions.end(),
                                  [action](const auto& entry) { return entry.first == action; });
  return fmt::format("a query only reads: {} is refused",
                     known == kActions.end() ? "this statement" : known->second);
}

// SQLite says what it is given.
// NOLINTNEXTLINE(readability-function-size)
int QueryGuard::authorize(void* guard, int action, const char* first, const char* second,
                          const char* /*database*/, const char* /*accessor*/) {
  auto& self = *static_cast<QueryGuard*>(guard);
  const auto view = [](const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
  };
  std::string refused = self.refusal(action, view(first), view(second));
  if (refused.empty()) return SQLITE_OK;
  if (self.refused_.empty()) self.refused_ = std::move(refused);
  return SQLITE_DENY;
}

std::string QueryGuard::table_names() const { return fmt::format("{}", fmt::join(tables_, ", ")); }

int QueryGuard::look_at_clock(void* guard) {
  return static_cast<const QueryGuard*>(guard)->is_late() ? 1 : 0;
}

Status QueryGuard::apply(trace::Database& database) {
  sqlite3* const raw = database.handle();
  Status set = database.execute("PRAGMA query_only = 1");
  if (!set) return set;
  sqlite3_hard_heap_limit64(kHeapBytesMax);
  for (const auto& [limit, value] : kLimits) sqlite3_limit(raw, limit, value);
  // A name in double quotes that no column has is an error, and no text.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  // Their tables are made when they are first used, which the authorizer would refuse.
  for (const char* const used :
       {"SELECT 1 FROM json_each('[]')", "SELECT 1 FROM json_tree('[]')"}) {
    (void)database.prepare(used);
  }
  sqlite3_progress_handler(raw, kOperationsPerLook, look_at_clock, this);
  sqlite3_set_authorizer(raw, authorize, this);
  return {};
}

}  // namespace unstarve::runs
