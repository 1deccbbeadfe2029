#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/reading.h"
#include "base/result.h"
#include "base/unique_handle.h"

struct sqlite3;
struct sqlite3_stmt;

namespace unstarve::trace {

/// One value bound to a statement. An absent Reading is NULL.
struct SqlValue {
  std::variant<std::nullptr_t, std::int64_t, double, std::string_view> value = nullptr;

  SqlValue(std::nullptr_t) {}                       // NOLINT(google-explicit-constructor)
  SqlValue(std::int64_t number) : value(number) {}  // NOLINT(google-explicit-constructor)
  SqlValue(double number) : value(number) {}        // NOLINT(google-explicit-constructor)
  SqlValue(std::string_view text) : value(text) {}  // NOLINT(google-explicit-constructor)
  SqlValue(const std::string& text) : value(std::string_view(text)) {}  // NOLINT
  template <class T>
  SqlValue(const Reading<T>& reading) {  // NOLINT(google-explicit-constructor)
    if (reading) value = *reading;
  }
};

struct SqliteTraits {
  using Handle = sqlite3*;
  static Handle invalid() { return nullptr; }
  static void close(Handle database) noexcept;
};
struct StatementTraits {
  using Handle = sqlite3_stmt*;
  static Handle invalid() { return nullptr; }
  static void close(Handle statement) noexcept;
};

/// A prepared statement. Text columns are views that live until the next call.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Binds `values` and runs the statement to its end; for INSERT, UPDATE, DELETE.
  Status run(std::initializer_list<SqlValue> values);
  /// Binds `values` for a query whose rows next() hands out.
  Status start(std::initializer_list<SqlValue> values);
  /// True: a row is there. False: no more.
  Result<bool> next();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;
  /// NULL becomes `not_observed`.
  Reading<std::int64_t> reading(int column) const;

 private:
  UniqueHandle<StatementTraits> statement_;
};

/// A connection to an SQLite file. Thread rule: one thread at a time.
class Database {
 public:
  /// Makes the file when it is not there.
  static Result<Database> create(const std::string& path);
  /// For reading only; also a file whose writer was killed, or that lies where nobody may write.
  /// Views and triggers that it has are none.
  static Result<Database> open_read_only(const std::string& path);
  /// For reading tables of a file that anybody may have made, and that nobody writes now: its
  /// views, triggers, virtual tables and computed columns can do nothing, since all that a
  /// statement may do is to read rows. Its strings are at most 16 MiB long.
  static Result<Database> open_untrusted(const std::string& path);

  Status execute(const char* sql);
  Result<Statement> prepare(std::string_view sql) const;
  bool in_transaction() const;
  /// The whole database as the bytes of its file; for one that lies in memory (":memory:").
  Result<std::string> bytes() const;
  /// Folds a write-ahead log into the file and writes without one from then on. Where somebody has
  /// the file open the log may stay beside it; whoever opens the file next reads both.
  Status leave_log();
  /// Of the row that was inserted last.
  std::int64_t last_rowid() const;
  /// SQLite's own, for what only its interface has. Lives as long as this.
  sqlite3* handle() const { return database_.get(); }

 private:
  UniqueHandle<SqliteTraits> database_;
  std::string path_;
};

/// Runs a query and calls `each` with the statement at every row.
template <class Each>
Status for_each_row(const Database& database, std::string_view sql,
                    std::initializer_list<SqlValue> values, Each each) {
  Result<Statement> query = database.prepare(sql);
  if (!query) return forward_error(query);
  if (const Status started = query->start(values); !started) return started;
  while (true) {
    const Result<bool> more = query->next();
    if (!more) return forward_error(more);
    if (!*more) return {};
    each(*query);
  }
}

}  // namespace unstarve::trace
