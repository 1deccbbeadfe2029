#include "runs/query/query.h"

#include <sqlite3.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "host/host_files.h"
#include "runs/collection.h"
#include "runs/folder_scan.h"
#include "runs/query/guard.h"
#include "runs/query/views.h"
#include "trace/run_reader.h"

namespace unstarve::runs {

namespace {

using OwnStatement = UniqueHandle<trace::StatementTraits>;

std::string_view bytes_of(const void* bytes, int size) {
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

Cell cell_of(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: return static_cast<std::int64_t>(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT: return sqlite3_column_double(row, column);
    case SQLITE_NULL: return nullptr;
    case SQLITE_BLOB: {
      const void* const bytes = sqlite3_column_blob(row, column);
      return Blob{std::string(bytes_of(bytes, sqlite3_column_bytes(row, column)))};
    }
    default: {
      const void* const text = sqlite3_column_text(row, column);
      return std::string(bytes_of(text, sqlite3_column_bytes(row, column)));
    }
  }
}

std::size_t bytes_in(const Cell& cell) {
  if (const auto* const text = std::get_if<std::string>(&cell)) return text->size();
  if (const auto* const blob = std::get_if<Blob>(&cell)) return blob->bytes.size();
  return sizeof(std::int64_t);
}

/// One query over a database that is guarded.
class Asking {
 public:
  Asking(trace::Database& database, const QueryGuard& guard, const QueryBounds& bounds)
      : raw_(database.handle()), guard_(guard), bounds_(bounds) {}

  Result<QueryResult> ask(const std::string& sql) {
    if (const Status prepared = prepare(sql); !prepared) return forward_error(prepared);
    QueryResult result;
    for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i) {
      const char* const name = sqlite3_column_name(statement_.get(), i);
      result.columns.emplace_back(name == nullptr ? "" : name);
    }
    while (result.cut.empty()) {
      const int code = sqlite3_step(statement_.get());
      if (code == SQLITE_DONE) return result;
      if (code != SQLITE_ROW) return failure(code);
      take_row(result);
    }
    return result;
  }

 private:
  Status prepare(const std::string& sql) {
    sqlite3_stmt* made = nullptr;
    const char* rest = nullptr;
    const int code =
        sqlite3_prepare_v2(raw_, sql.data(), static_cast<int>(sql.size()), &made, &rest);
    statement_.reset(made);
    if (code != SQLITE_OK) return failure(code);
    if (made == nullptr) return fail(ErrorCode::kInvalidArgument, "the query is empty");
    const std::string_view behind(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
    if (behind.find_first_not_of(" \t\r\n;") != behind.npos) {
      return fail(ErrorCode::kInvalidArgument,
                  "one SELECT is taken; there is more behind the first statement");
    }
    if (sqlite3_stmt_readonly(made) == 0 || sqlite3_stmt_isexplain(made) != 0 ||
        sqlite3_column_count(made) == 0) {
      return fail(ErrorCode::kInvalidArgument, "a query only reads: it is one SELECT");
    }
    if (sqlite3_bind_parameter_count(made) > 0) {
      return fail(ErrorCode::kInvalidArgument, "the query has a parameter, which nobody can fill");
    }
    return {};
  }

  void take_row(QueryResult& result) {
    if (static_cast<std::int64_t>(result.rows.size()) == bounds_.rows_most) {
      result.cut = fmt::format("only the first {} rows are here", bounds_.rows_most);
      return;
    }
    std::vector<Cell> row;
    for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i) {
      row.push_back(cell_of(statement_.get(), i));
      bytes_ += static_cast<std::int64_t>(bytes_in(row.back()));
    }
    if (bytes_ > bounds_.bytes_most) {
      result.cut = fmt::format("only the first {} rows are here: {} MiB", result.rows.size(),
                               bounds_.bytes_most >> 20);
      return;
    }
    result.rows.push_back(std::move(row));
  }

  tl::unexpected<Error> failure(int code) const {
    const std::string message = sqlite3_errmsg(raw_);
    if (!guard_.refused().empty()) return fail(ErrorCode::kInvalidArgument, "{}", guard_.refused());
    switch (code & 0xff) {
      case SQLITE_INTERRUPT:
        return fail(ErrorCode::kTimeout, "the query was ended after {} s (--timeout)",
                    bounds_.timeout_s);
      case SQLITE_NOMEM: return fail(ErrorCode::kOutOfMemory, "the query takes too much memory");
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB: return fail(ErrorCode::kCorruptData, "the run is damaged: {}", message);
      default: break;
    }
    return wrong(message);
  }

  tl::unexpected<Error> wrong(const std::string& message) const {
    const bool no_table = message.starts_with("no such table");
    return fail(ErrorCode::kInvalidArgument, "the query is wrong: {}{}", message,
                no_table ? "; there are " + guard_.table_names() : "");
  }

  sqlite3* const raw_;
  const QueryGuard& guard_;
  const QueryBounds& bounds_;
  OwnStatement statement_;
  std::int64_t bytes_ = 0;
};

using Names = std::set<std::string, std::less<>>;

/// No run of ours has tables that are programs.
Status check_tables(const trace::Database& store, const std::string& folder) {
  std::string found;
  const Status read =
      trace::for_each_row(store, "SELECT name FROM sqlite_schema WHERE sql LIKE '%virtual%'", {},
                          [&found](const trace::Statement& row) { found = row.text(0); });
  if (!read) return read;
  if (found.empty()) return {};
  return fail(ErrorCode::kNotSupported, "{} is no run of unstarve's: its table {} is virtual",
              folder, found);
}

/// Never in a file. It removes what is temporary, so it comes before the views.
Status sort_in_memory(trace::Database& database) {
  return database.execute("PRAGMA temp_store = MEMORY");
}

struct Prepared {
  trace::Database database;
  Names tables;
};

Result<Prepared> prepare_run(const std::string& folder) {
  const auto run = trace::RunReader::open(folder);
  if (!run) return forward_error(run);
  auto store = trace::Database::open_read_only(folder + "/" + kStore);
  if (!store) return forward_error(store);
  if (const Status fine = check_tables(*store, folder); !fine) return forward_error(fine);
  if (const Status set = sort_in_memory(*store); !set) return forward_error(set);
  const std::string name = std::filesystem::path(whole_path(folder)).filename().string();
  const Status made = make_run_views(*store, *run, name);
  if (!made) return forward_error(made);
  Names tables(run_tables().begin(), run_tables().end());
  tables.insert(run_views().begin(), run_views().end());
  return Prepared{*std::move(store), std::move(tables)};
}

Result<Prepared> prepare_folder(const std::string& folder) {
  const auto collection = read_collection(folder);
  if (!collection) return forward_error(collection);
  const host::HostFiles files;
  std::vector<RunState> states;
  for (const CollectedRun& run : collection->runs) {
    states.push_back(state_of(run.summary, files, wall_time_ns()));
  }
  auto database = make_folder_tables(*collection, states);
  if (!database) return forward_error(database);
  if (const Status set = sort_in_memory(*database); !set) return forward_error(set);
  return Prepared{*std::move(database), Names(folder_views().begin(), folder_views().end())};
}

}  // namespace

Result<QueryResult> query(const std::string& folder, const std::string& sql,
                          const QueryBounds& bounds, const Clock& clock) {
  auto prepared = is_run(folder) ? prepare_run(folder) : prepare_folder(folder);
  if (!prepared) return forward_error(prepared);
  const auto time_ns = static_cast<std::int64_t>(bounds.timeout_s * kSecondNs);
  QueryGuard guard(clock, clock.now_ns() + time_ns, std::move(prepared->tables));
  if (const Status applied = guard.apply(prepared->database); !applied) {
    return forward_error(applied);
  }
  return Asking(prepared->database, guard, bounds).ask(sql);
}

}  // namespace unstarve::runs
