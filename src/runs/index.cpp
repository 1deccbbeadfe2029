#include "runs/index.h"

#include <span>
#include <utility>

#include "base/io/files.h"
#include "base/io/write.h"
#include "runs/index_tables.h"

namespace unstarve::runs {

namespace {

using trace::Database;
using trace::Statement;

constexpr const char* kAbout = "CREATE TABLE about (schema TEXT);";

template <class Row>
Status insert_row(const Row& row, Statement& statement) {
  return trace::with_values(row, [&statement](std::initializer_list<trace::SqlValue> values) {
    return statement.run(values);
  });
}

struct Insertions {
  Statement run, finding, prediction;
};

Result<Insertions> prepare_insertions(const Database& database) {
  Insertions made;
  const std::pair<Statement*, std::string> wanted[] = {
      {&made.run, trace::insert_sql<RunSummary>()},
      {&made.finding, trace::insert_sql<IndexedFinding>()},
      {&made.prediction, trace::insert_sql<IndexedPrediction>()},
  };
  for (const auto& [statement, sql] : wanted) {
    Result<Statement> prepared = database.prepare(sql);
    if (!prepared) return forward_error(prepared);
    *statement = *std::move(prepared);
  }
  return made;
}

Status insert_all(const std::vector<CollectedRun>& runs, const Database& database) {
  auto insertions = prepare_insertions(database);
  if (!insertions) return forward_error(insertions);
  for (const CollectedRun& run : runs) {
    const std::string& name = run.summary.name;
    if (Status done = insert_row(run.summary, insertions->run); !done) return done;
    for (const trace::FindingRow& finding : run.findings) {
      const IndexedFinding row = {name, finding};
      if (Status done = insert_row(row, insertions->finding); !done) return done;
    }
    for (const trace::PredictionRow& prediction : run.predictions) {
      const IndexedPrediction row = {name, prediction};
      if (Status done = insert_row(row, insertions->prediction); !done) return done;
    }
  }
  return {};
}

bool is_current(const Database& index) {
  std::string schema;
  const Status read =
      trace::for_each_row(index, "SELECT schema FROM about", {},
                          [&schema](const Statement& row) { schema = row.text(0); });
  return read && schema == kIndexSchema;
}

Status read_all(const Database& index, RunsByName& runs) {
  Status read =
      trace::for_each_row_of<RunSummary>(index, "", {}, [&runs](RunSummary row, std::int64_t) {
        CollectedRun& run = runs[row.name];
        run.summary = std::move(row);
      });
  if (!read) return read;
  read = trace::for_each_row_of<IndexedFinding>(
      index, "ORDER BY rowid", {}, [&runs](IndexedFinding found, std::int64_t) {
        runs[found.run].findings.push_back(std::move(found.row));
      });
  if (!read) return read;
  return trace::for_each_row_of<IndexedPrediction>(
      index, "ORDER BY rowid", {}, [&runs](IndexedPrediction made, std::int64_t) {
        runs[made.run].predictions.push_back(std::move(made.row));
      });
}

}  // namespace

RunsByName read_index(const std::string& folder) {
  RunsByName runs;
  const auto index = Database::open_untrusted(folder + "/" + kIndexFile);
  if (!index || !is_current(*index)) return runs;
  if (!read_all(*index, runs)) runs.clear();
  return runs;
}

Result<Database> tables_of(const std::vector<CollectedRun>& runs) {
  auto database = Database::create(":memory:");
  if (!database) return database;
  const std::string tables = "BEGIN;" + std::string(kAbout) + "INSERT INTO about VALUES ('" +
                             kIndexSchema + "');" + trace::create_sql<RunSummary>() +
                             trace::create_sql<IndexedFinding>() +
                             trace::create_sql<IndexedPrediction>();
  Status done = database->execute(tables.c_str());
  if (done) done = insert_all(runs, *database);
  if (done) done = database->execute("COMMIT");
  if (!done) return forward_error(done);
  return database;
}

Status write_index(const std::string& folder, const std::vector<CollectedRun>& runs) {
  const auto database = tables_of(runs);
  if (!database) return forward_error(database);
  const auto bytes = database->bytes();
  if (!bytes) return forward_error(bytes);
  io::Files files;
  // For its owner alone, as the runs are.
  return io::replace_file(files, folder + "/" + kIndexFile,
                          std::as_bytes(std::span(bytes->data(), bytes->size())), 0600);
}

}  // namespace unstarve::runs
