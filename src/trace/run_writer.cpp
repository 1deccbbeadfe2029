#include "trace/run_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/unique_handle.h"
#include "trace/events/events_file.h"
#include "trace/store/run_schema.h"
#include "trace/store/sqlite.h"
#include "trace/store/tables.h"
#include "trace/text/hook_text.h"
#include "trace/text/secrets.h"
#include "trace/thinning/thinner.h"

namespace unstarve::trace {

namespace {

/// Events in memory at which a chunk is written without waiting for the next commit, as soon as the
/// mark of their ring is there: 4 MiB.
constexpr std::size_t kChunkEvents = 65536;
/// At which it is written without that mark. No ring of ours holds so many at once.
constexpr std::size_t kChunkEventsMost = 8 * kChunkEvents;

/// Makes the store's file, which only one of several writers can do: whose it is, whose run it is.
Status claim_store(const std::string& dir, const std::string& store) {
  const FileDescriptor file(::open(store.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file) return {};
  if (errno == EEXIST) {
    return fail(ErrorCode::kInvalidArgument, "{} already holds a run; choose another folder", dir);
  }
  return fail_errno(
      errno, fmt::format("cannot write to the run folder {} (choose another with --out)", dir));
}

/// For its owner alone: what a job says may be meant for nobody else.
Status make_folder(const std::string& path) {
  std::error_code failed;
  const bool is_new = std::filesystem::create_directories(path, failed);
  if (is_new && !failed) ::chmod(path.c_str(), 0700);
  if (failed) {
    return fail_errno(
        failed.value(),
        fmt::format("cannot make the run folder {} (choose another with --out)", path));
  }
  return {};
}

}  // namespace

struct RunWriter::Impl {
  std::string dir;
  RunWriterOptions options;
  // The statements are closed before the connection that they belong to.
  Database database;
  RunStatements statements;
  std::optional<EventsWriter> events;
  std::optional<Thinner> thinner;  // none: findings are added to a finished run
  std::uint64_t rows_in_transaction = 0;
  std::set<std::int64_t> stacks;  // that are in the store, or in the open transaction
  std::int64_t next_metric_id = 1;
  WriteLosses losses;

  void note(const Error& error) {
    if (!losses.first_error) losses.first_error = error;
  }

  /// The open transaction is no more, and what was added in it neither.
  void lose_transaction() {
    losses.rows += rows_in_transaction;
    if (thinner) thinner->lost(rows_in_transaction);
    if (rows_in_transaction > 0) stacks.clear();
    rows_in_transaction = 0;
  }

  /// Runs an insertion inside the open transaction, which it begins if need be. SQLite ends a
  /// transaction by itself on some failures (a full disk): its rows are lost then.
  bool insert(Statement& statement, std::initializer_list<SqlValue> values) {
    if (!database.in_transaction()) {
      lose_transaction();
      if (const Status begun = database.execute("BEGIN"); !begun) {
        ++losses.rows;
        note(begun.error());
        return false;
      }
    }
    if (const Status written = statement.run(values); !written) {
      ++losses.rows;
      note(written.error());
      return false;
    }
    ++rows_in_transaction;
    return true;
  }

  template <class Row>
  bool insert_row(const Row& row, Statement& statement) {
    return with_values(
        row, [&](std::initializer_list<SqlValue> values) { return insert(statement, values); });
  }

  /// The same for a row that may be thinned out when the run has become long.
  template <class Row>
  void insert_row(RowKind kind, const Row& row, Statement& statement) {
    may_be_thinned(insert_row(row, statement), kind, row.pid, row.when);
  }

  /// The row that was inserted last, where it was.
  void may_be_thinned(bool is_in, RowKind kind, std::int64_t process, const Interval& when) {
    if (is_in && thinner) thinner->inserted(kind, process, when, database.last_rowid());
  }

  /// A run that cannot be thinned out stays as long as it is; what was added is not lost by it,
  /// unless SQLite ends the transaction.
  void thin_out(Status (Thinner::*how)(Database&)) {
    if (!thinner || !database.in_transaction()) return;
    if (const Status done = ((*thinner).*how)(database); !done) note(done.error());
  }

  /// The number of a stack, which is made of its words, so that it is the same after rows were
  /// lost. 62 bits: SQLite's numbers have a sign, and two of some thousands do not meet.
  std::int64_t number_of_stack(std::string_view words) {
    const auto number = static_cast<std::int64_t>(XXH3_64bits(words.data(), words.size()) >> 2);
    if (stacks.count(number) == 0) {
      const std::uint64_t lost = losses.rows;
      insert(statements.stack, {number, words});
      if (losses.rows == lost) stacks.insert(number);
    }
    return number;
  }

  EventsWriter* open_events() {
    if (!events) {
      Result<EventsWriter> made =
          EventsWriter::create(dir + "/events-0.uev", options.events_bytes_max);
      if (!made) {
        note(made.error());
        return nullptr;
      }
      events.emplace(std::move(*made));
    }
    return &*events;
  }

  template <class Event>
  void add_event(const Event& event, std::string_view name) {
    EventsWriter* writer = open_events();
    if (writer == nullptr) {
      ++losses.events;
      return;
    }
    writer->add(event, name);
    // A chunk without the mark that belongs to its events would have whoever reads the run after a
    // kill take them from the ring again.
    if (writer->pending() >= kChunkEventsMost) flush_events();
  }

  void flush_events() {
    if (!events) return;
    if (const Status flushed = events->flush(); !flushed) note(flushed.error());
  }
};

RunWriter::RunWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunWriter::~RunWriter() = default;

Result<std::unique_ptr<RunWriter>> RunWriter::create(const std::string& dir, const RunInfo& info,
                                                     const RunWriterOptions& options) {
  const std::string store = dir + "/run.sqlite";
  if (const Status made = make_folder(dir + "/rings"); !made) return forward_error(made);
  if (const Status claimed = claim_store(dir, store); !claimed) return forward_error(claimed);
  auto impl = std::make_unique<Impl>();
  impl->dir = dir;
  impl->options = options;
  Result<Database> database = Database::create(store);
  if (!database) return forward_error(database);
  impl->database = std::move(*database);
  if (const Status made = create_run_schema(impl->database, options.store_pages_max); !made) {
    return forward_error(made);
  }
  Result<RunStatements> statements = RunStatements::prepare(impl->database);
  if (!statements) return forward_error(statements);
  impl->statements = std::move(*statements);
  impl->thinner.emplace(info.started_ns, options.thinning);

  auto writer = std::unique_ptr<RunWriter>(new RunWriter(std::move(impl)));
  writer->put("schema", "unstarve.run/1");
  writer->put("run_id", info.run_id);
  writer->put("command", nlohmann::json(without_secrets(info.command))
                             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  writer->put("started_wall_ns", std::to_string(info.started_wall_ns));
  writer->put("started_ns", std::to_string(info.started_ns));
  writer->put("host", info.host);
  writer->put("device_kind", info.device_kind);
  writer->put("device_name", info.device_name);
  writer->put("unstarve_version", info.unstarve_version);
  if (!info.watcher.empty()) writer->put("watcher", info.watcher);
  writer->put("state", "running");
  if (const Status written = writer->commit(); !written) return forward_error(written);
  return writer;
}

Result<std::unique_ptr<RunWriter>> RunWriter::reopen(const std::string& dir) {
  const std::string store = dir + "/run.sqlite";
  std::error_code ignored;
  if (!std::filesystem::exists(store, ignored)) {
    return fail(ErrorCode::kNotFound, "{} holds no run (there is no run.sqlite in it)", dir);
  }
  auto impl = std::make_unique<Impl>();
  impl->dir = dir;
  Result<Database> database = Database::create(store);
  if (!database) return forward_error(database);
  impl->database = std::move(*database);
  if (const Status added = add_later_tables(impl->database); !added) return forward_error(added);
  Result<RunStatements> statements = RunStatements::prepare(impl->database);
  if (!statements) return forward_error(statements);
  impl->statements = std::move(*statements);
  return std::unique_ptr<RunWriter>(new RunWriter(std::move(impl)));
}

const std::string& RunWriter::dir() const { return impl_->dir; }

void RunWriter::put(std::string_view key, std::string_view value) {
  impl_->insert(impl_->statements.put, {key, value});
}

void RunWriter::add(const ProcessRow& row) {
  impl_->insert(impl_->statements.process,
                {row.id.pid, row.ppid, to_string(row.role), row.started_ns, row.id.born_ns});
}
void RunWriter::add(const ProcessEnd& row) {
  impl_->insert(impl_->statements.process_end, {row.id.pid, row.ended_ns, row.id.born_ns});
  if (impl_->thinner) impl_->thinner->ended(row.id.pid);
}
void RunWriter::set_process_text(const ProcessId& id, std::string_view text) {
  impl_->insert(impl_->statements.process_text, {id.pid, text, id.born_ns});
  if (!impl_->thinner || text.find("\"profile\"") == text.npos) return;
  const ProfileText profile = parse_hook_text(text).profile;
  if (profile.marks.empty()) return;
  const std::int64_t end_ns = std::max(profile.marks.back().after_ns, profile.interruption.end_ns);
  impl_->thinner->protect(id.pid, {profile.marks.front().before_ns, end_ns});
}
void RunWriter::add(const StepRow& row) {
  impl_->insert_row(RowKind::kStep, row, impl_->statements.step);
}
void RunWriter::add(const LoaderRow& row) { impl_->insert_row(row, impl_->statements.loader); }
void RunWriter::add(const WaitRow& row) {
  impl_->insert_row(RowKind::kWait, row, impl_->statements.wait);
}
void RunWriter::add(const FetchRow& row) {
  impl_->insert_row(RowKind::kFetch, row, impl_->statements.fetch);
}
void RunWriter::add(const StageRow& row) {
  impl_->insert_row(RowKind::kStage, row, impl_->statements.stage);
}
void RunWriter::add(const SyncRow& row) {
  impl_->insert_row(RowKind::kSync, row, impl_->statements.sync);
}
void RunWriter::add(const StackRow& row, std::string_view stack) {
  const NumberedStackRow numbered = {row, impl_->number_of_stack(stack)};
  const bool is_in = impl_->insert_row(numbered, impl_->statements.stack_sample);
  impl_->may_be_thinned(is_in, RowKind::kStack, row.pid, {row.t_ns, row.t_ns});
}
void RunWriter::add(const HostWorkRow& row) {
  impl_->insert_row(RowKind::kHostWork, row, impl_->statements.host_work);
}
void RunWriter::add(const DeviceRow& row) { impl_->insert_row(row, impl_->statements.device); }
void RunWriter::add(const GpuErrorRow& row) { impl_->insert_row(row, impl_->statements.gpu_error); }
void RunWriter::add(const WindowRow& row) {
  impl_->insert_row(row, impl_->statements.window);
  if (impl_->thinner) impl_->thinner->protect(row);
}
void RunWriter::add(const DeviceOp& operation, std::string_view name) {
  impl_->add_event(operation, name);
}
void RunWriter::add(const HostCall& call, std::string_view name) { impl_->add_event(call, name); }

void RunWriter::set_mark(const RingMark& mark, bool device_ring) {
  impl_->insert_row(mark, impl_->statements.ring);
  // Device events go to another file than the table `ring`, and the two cannot be written in one
  // stroke: what counts for a device ring is the mark in the chunk that holds its events.
  if (!device_ring || !impl_->events) return;
  impl_->events->set_mark(mark);
  if (impl_->events->pending() >= kChunkEvents) impl_->flush_events();
}

std::int64_t RunWriter::add_metric(const MetricRow& row) {
  MetricRow numbered = row;
  numbered.id = impl_->next_metric_id++;
  impl_->insert_row(numbered, impl_->statements.metric);
  return numbered.id;
}
void RunWriter::add(const SampleRow& row) {
  const bool is_in = impl_->insert_row(row, impl_->statements.sample);
  impl_->may_be_thinned(is_in, RowKind::kSample, 0, {row.t_ns, row.t_ns});
}
void RunWriter::add(const FindingRow& row) { impl_->insert_row(row, impl_->statements.finding); }
void RunWriter::add(const PredictionRow& row) {
  impl_->insert_row(row, impl_->statements.prediction);
}

Status RunWriter::commit() {
  impl_->flush_events();
  impl_->thin_out(&Thinner::advance);
  if (!impl_->database.in_transaction()) {
    impl_->lose_transaction();
    return {};
  }
  Status done = impl_->database.execute("COMMIT");
  if (!done) {
    impl_->note(done.error());
    // What cannot be rolled back was rolled back by SQLite already.
    const Status ignored = impl_->database.execute("ROLLBACK");
    static_cast<void>(ignored);
    impl_->lose_transaction();
  }
  impl_->rows_in_transaction = 0;
  return done;
}

Status RunWriter::finish(std::int64_t ended_ns, int exit_code) {
  put("ended_ns", std::to_string(ended_ns));
  put("exit_code", std::to_string(exit_code));
  impl_->thin_out(&Thinner::finish);
  put("rows_lost", std::to_string(losses().rows));
  put("events_lost", std::to_string(losses().events));
  put("state", "ended");
  if (const Status committed = commit(); !committed) return committed;
  return impl_->database.leave_log();  // a finished run is one file
}

WriteLosses RunWriter::losses() const {
  WriteLosses losses = impl_->losses;
  if (impl_->events) losses.events += impl_->events->dropped();
  return losses;
}

}  // namespace unstarve::trace
