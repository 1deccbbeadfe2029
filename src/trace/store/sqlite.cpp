#include "trace/store/sqlite.h"

#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

namespace unstarve::trace {

namespace {

/// With another's lock.
constexpr int kPatienceMs = 2000;

// A connection without SQLite's own locks: it has one thread at a time. Reading a million rows
// takes a tenth less.
constexpr int kOneThread = SQLITE_OPEN_NOMUTEX;

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kCorruptData;
    case SQLITE_CANTOPEN: return ErrorCode::kNotFound;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return ErrorCode::kNoPermission;
    case SQLITE_NOMEM: return ErrorCode::kOutOfMemory;
    case SQLITE_ERROR: return ErrorCode::kCorruptData;  // a table or column that is not there
    default: return ErrorCode::kIo;
  }
}

tl::unexpected<Error> fail_sqlite(sqlite3* database, int code, std::string_view doing) {
  const char* path = database != nullptr ? sqlite3_db_filename(database, "main") : nullptr;
  return fail(code_of(code), "cannot {} {}: {}", doing, path != nullptr ? path : "the run store",
              database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code));
}

struct Binder {
  sqlite3_stmt* statement;
  int index;
  int operator()(std::nullptr_t) const { return sqlite3_bind_null(statement, index); }
  int operator()(std::int64_t number) const { return sqlite3_bind_int64(statement, index, number); }
  int operator()(double number) const { return sqlite3_bind_double(statement, index, number); }
  int operator()(std::string_view text) const {
    return sqlite3_bind_text64(statement, index, text.data(), text.size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
};

/// A path as SQLite's URIs want it.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool special = c == '%' || c == '?' || c == '#';
    uri += special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return uri;
}

/// Of what a statement may do in a file that is not trusted: rows are read, nothing is called.
/// SQLite says what it is given.
// NOLINTNEXTLINE(readability-function-size)
int allow_reading(void*, int action, const char* name, const char*, const char*, const char*) {
  if (action == SQLITE_SELECT || action == SQLITE_READ) return SQLITE_OK;
  const bool lists_columns = action == SQLITE_PRAGMA && std::string_view(name) == "table_info";
  return lists_columns ? SQLITE_OK : SQLITE_DENY;
}

/// What a file brings along does nothing: views, triggers, virtual tables, functions in its schema.
void harden(sqlite3* database, int longest_value) {
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
}

}  // namespace

void SqliteTraits::close(Handle database) noexcept { sqlite3_close_v2(database); }
void StatementTraits::close(Handle statement) noexcept { sqlite3_finalize(statement); }

Status Statement::start(std::initializer_list<SqlValue> values) {
  sqlite3_stmt* statement = statement_.get();
  sqlite3_reset(statement);
  int index = 1;
  for (const SqlValue& value : values) {
    const int code = std::visit(Binder{statement, index}, value.value);
    if (code != SQLITE_OK) {
      return fail_sqlite(sqlite3_db_handle(statement), code, "bind a value in");
    }
    ++index;
  }
  return {};
}

Status Statement::run(std::initializer_list<SqlValue> values) {
  if (const Status bound = start(values); !bound) return forward_error(bound);
  sqlite3_stmt* statement = statement_.get();
  const int code = sqlite3_step(statement);
  // The message must be taken before the reset clears it.
  Status result;
  if (code != SQLITE_DONE && code != SQLITE_ROW) {
    result = fail_sqlite(sqlite3_db_handle(statement), code, "write to");
  }
  sqlite3_reset(statement);
  return result;
}

Result<bool> Statement::next() {
  sqlite3_stmt* statement = statement_.get();
  const int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail_sqlite(sqlite3_db_handle(statement), code, "read");
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string_view Statement::text(int column) const {
  const auto* bytes = static_cast<const char*>(
      static_cast<const void*>(sqlite3_column_text(statement_.get(), column)));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(bytes, static_cast<std::size_t>(size));
}

Reading<std::int64_t> Statement::reading(int column) const {
  if (is_null(column)) return WhyAbsent::kNotObserved;
  return integer(column);
}

Result<Database> Database::create(const std::string& path) {
  Database result;
  result.path_ = path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | kOneThread, nullptr);
  result.database_.reset(raw);
  if (code != SQLITE_OK) return fail_sqlite(raw, code, "create");
  // Who reads the file holds its writer up where there is no log: before one is made, which takes
  // some milliseconds of a run's start, and in a run that has ended.
  sqlite3_busy_timeout(raw, kPatienceMs);
  return result;
}

Result<Database> Database::open_read_only(const std::string& path) {
  constexpr int kLongestText = 64 * 1024 * 1024;
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) {
    return fail(ErrorCode::kNotFound, "there is no run store {}", path);
  }
  // A write-ahead log needs a writable folder for its index. Where there is none, the file is read
  // as it stands (immutable), without what is only in the log.
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const bool writable = ::access(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
  std::string uri = uri_of(path);
  uri += writable ? "?mode=ro" : "?mode=ro&immutable=1";
  Database result;
  result.path_ = path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &raw,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | kOneThread, nullptr);
  result.database_.reset(raw);
  if (code != SQLITE_OK) return fail_sqlite(raw, code, "open");
  // Somebody may have sent it.
  harden(raw, kLongestText);
  // A writer that commits just now is waited for instead of failing with "database is locked".
  sqlite3_busy_timeout(raw, kPatienceMs);
  return result;
}

Result<Database> Database::open_untrusted(const std::string& path) {
  constexpr int kLongestValue = 16 * 1024 * 1024;
  std::error_code missing;
  if (!std::filesystem::is_regular_file(path, missing)) {
    return fail(ErrorCode::kNotFound, "{} is no regular file", path);
  }
  Database result;
  result.path_ = path;
  sqlite3* raw = nullptr;
  // Immutable: neither a journal nor a log beside it is looked at.
  const int code = sqlite3_open_v2((uri_of(path) + "?mode=ro&immutable=1").c_str(), &raw,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | kOneThread, nullptr);
  result.database_.reset(raw);
  if (code != SQLITE_OK) return fail_sqlite(raw, code, "open");
  harden(raw, kLongestValue);
  if (const Status set = result.execute("PRAGMA query_only = 1; PRAGMA cell_size_check = 1");
      !set) {
    return forward_error(set);
  }
  sqlite3_set_authorizer(raw, allow_reading, nullptr);
  return result;
}

Status Database::execute(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(database_.get(), code, "write to");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(database_.get(), code, "use");
  return Statement(raw);
}

Status Database::leave_log() {
  sqlite3_busy_timeout(database_.get(), 0);  // whoever reads just now may do so for long
  for (const char* pragma : {"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE"}) {
    const int code = sqlite3_exec(database_.get(), pragma, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK && code != SQLITE_BUSY && code != SQLITE_LOCKED) {
      return fail_sqlite(database_.get(), code, "write to");
    }
  }
  return {};
}

Result<std::string> Database::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* const copy = sqlite3_serialize(database_.get(), "main", &size, 0);
  if (copy == nullptr) return fail(ErrorCode::kOutOfMemory, "no memory for a copy of {}", path_);
  const char* const text = static_cast<const char*>(static_cast<const void*>(copy));
  std::string bytes(text, static_cast<std::size_t>(size));
  sqlite3_free(copy);
  return bytes;
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

std::int64_t Database::last_rowid() const { return sqlite3_last_insert_rowid(database_.get()); }

}  // namespace unstarve::trace
