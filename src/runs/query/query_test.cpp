#include "runs/query/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/testing/test_folder.h"
#include "base/units.h"
#include "runs/testing/written_run.h"
#include "trace/store/sqlite.h"

namespace unstarve::runs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Query : public testing::Test {
 protected:
  void SetUp() override { write_run(run_, {.started_wall_ns = 1'795'660'030'000'000'000}); }

  Result<QueryResult> ask(const std::string& sql, const QueryBounds& bounds = {}) const {
    return query(run_, sql, bounds, clock_);
  }
  std::string refusal(const std::string& sql) const {
    const auto answer = ask(sql);
    return answer ? "was answered" : answer.error().message;
  }
  Result<QueryResult> ask_folder(const std::string& sql) const {
    return query(folder_.path(), sql, {}, clock_);
  }

  TestFolder folder_;
  const std::string run_ = folder_.path() + "/run";
  SteadyClock clock_;
};

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Query, ViewsHaveTheRowsInTheirUnits) {
  const auto steps = ask("SELECT step, began_s, duration_ms, told_by FROM steps ORDER BY step");
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_THAT(steps->columns, ElementsAre("step", "began_s", "duration_ms", "told_by"));
  ASSERT_EQ(steps->rows.size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(steps->rows[1][0]), 1);
  EXPECT_DOUBLE_EQ(std::get<double>(steps->rows[1][1]), 0.001);
  EXPECT_DOUBLE_EQ(std::get<double>(steps->rows[1][2]), 1);
  EXPECT_EQ(std::get<std::string>(steps->rows[1][3]), "optimizer");
  const auto found = ask("SELECT run, leads, share_ratio FROM findings");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(std::get<std::string>(found->rows.at(0)[0]), "run");
  EXPECT_EQ(std::get<std::int64_t>(found->rows.at(0)[1]), 1);
  const auto raw = ask("SELECT value FROM run WHERE key = 'host'");
  ASSERT_TRUE(raw) << raw.error().message;
  EXPECT_EQ(std::get<std::string>(raw->rows.at(0)[0]), "machine");
  const auto taken_apart =
      ask("SELECT count(*) FROM run, json_each(run.value) WHERE run.key = 'command'");
  ASSERT_TRUE(taken_apart) << taken_apart.error().message;
  EXPECT_EQ(std::get<std::int64_t>(taken_apart->rows.at(0)[0]), 2);
}

TEST_F(Query, AFolderHasItsRunsAndWhatWasFoundInThem) {
  write_run(folder_.path() + "/later", {.started_wall_ns = 1'895'660'030'000'000'000});
  const auto runs = ask_folder("SELECT run, began, duration_s, cause, steps FROM runs");
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(runs->rows[0][0]), "later");
  EXPECT_EQ(std::get<std::string>(runs->rows[1][1]), "2026-11-26 02:27:10");
  EXPECT_EQ(std::get<std::string>(runs->rows[0][3]), "input_wait");
  const auto found = ask_folder("SELECT run FROM findings NATURAL JOIN trials ORDER BY run");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->rows.size(), 2U);
  EXPECT_THAT(ask_folder("SELECT * FROM steps").error().message,
              HasSubstr("there are findings, runs, trials"));
  EXPECT_FALSE(ask_folder("SELECT fingerprint FROM run"));
}

struct Hostile {
  const char* sql;
  const char* why;  // a part of the refusal
};

constexpr Hostile kHostile[] = {
    {"ATTACH '/tmp/unstarve-written-by-a-query' AS y", "ATTACH"},
    {"DETACH main", "DETACH"},
    {"PRAGMA journal_mode = DELETE", "PRAGMA"},
    {"PRAGMA query_only = 0", "PRAGMA"},
    {"SELECT * FROM pragma_table_info('step')", "refused"},
    {"SELECT 1 FROM pragma_database_list", "refused"},
    {"SELECT 1 FROM sqlite_master", "sqlite_master"},
    {"SELECT sql FROM sqlite_schema", "sqlite_"},
    {"SELECT * FROM sqlite_temp_master", "sqlite_temp_master"},
    {"SELECT * FROM sqlite_dbpage", "sqlite_dbpage"},
    {"SELECT * FROM dbstat", "refused"},
    {"WITH step AS (SELECT * FROM sqlite_master) SELECT * FROM step", "sqlite_master"},
    {"SELECT (SELECT name FROM sqlite_master)", "sqlite_master"},
    {"SELECT load_extension('x.so')", "load_extension()"},
    {"SELECT writefile('/tmp/unstarve-written-by-a-query', 'y')", "writefile"},
    {"SELECT readfile('/etc/passwd')", "readfile"},
    {"SELECT fts3_tokenizer('simple')", "fts3_tokenizer()"},
    {"SELECT randomblob(1000000000)", "randomblob()"},
    {"SELECT zeroblob(1000000000)", "zeroblob()"},
    {"SELECT sqlite_compileoption_get(1)", "sqlite_compileoption_get()"},
    {"DELETE FROM step", "writing"},
    {"UPDATE run SET value = ''", "writing"},
    {"INSERT INTO step DEFAULT VALUES", "writing"},
    {"REPLACE INTO run VALUES ('a', 'b')", "writing"},
    {"CREATE TABLE x (y)", "refused"},
    {"CREATE TEMP TABLE x (y)", "refused"},
    {"CREATE VIRTUAL TABLE x USING fts5(y)", "refused"},
    {"CREATE TEMP VIEW x AS SELECT 1", "refused"},
    {"CREATE TRIGGER x AFTER INSERT ON step BEGIN SELECT 1; END", "refused"},
    {"DROP TABLE step", "refused"},
    {"DROP VIEW steps", "refused"},
    {"ALTER TABLE step RENAME TO x", "refused"},
    {"VACUUM", "only reads"},
    {"VACUUM INTO '/tmp/unstarve-written-by-a-query'", "only reads"},
    {"BEGIN IMMEDIATE", "a transaction"},
    {"SAVEPOINT x", "a transaction"},
    {"REINDEX", "REINDEX"},
    {"ANALYZE", "refused"},
    {"EXPLAIN SELECT 1", "only reads"},
    {"SELECT 1; DELETE FROM step", "more behind"},
    {"SELECT 1; -- nothing", "more behind"},
    {"SELECT ?", "parameter"},
    {"", "empty"},
    {"  ;", "empty"},
    {"-- nothing", "empty"},
    {"SELEKT 1", "syntax error"},
    {"SELECT nought FROM steps", "no such column"},
    {"SELECT pid FROM steps WHERE told_by = \"optimiser\"", "no such column"},
    {"SELECT replace(printf('%1000000d', 1), ' ', '1234567890')", "too big"},
    {"SELECT hex(hex(hex(printf('%1000000d', 1))))", "too big"},
};

TEST_F(Query, WhatIsMoreThanReadingIsRefusedByName) {
  const std::string before = bytes_of_file(run_ + "/run.sqlite");
  for (const Hostile& hostile : kHostile) {
    EXPECT_THAT(refusal(hostile.sql), HasSubstr(hostile.why)) << hostile.sql;
  }
  EXPECT_EQ(bytes_of_file(run_ + "/run.sqlite"), before);
  EXPECT_FALSE(fs::exists("/tmp/unstarve-written-by-a-query"));
}

TEST_F(Query, AStatementThatIsTooLongOrTooDeepIsRefused) {
  std::string deep = "1";
  for (int i = 0; i < 200; ++i) deep = "abs(" + deep + ")";
  EXPECT_NE(refusal("SELECT " + deep), "was answered");
  std::string joined = "SELECT 1";
  for (int i = 0; i < 100; ++i) joined += " UNION ALL SELECT 1";
  EXPECT_THAT(refusal(joined), HasSubstr("compound"));
  EXPECT_NE(refusal("SELECT '" + std::string(200'000, 'x') + "'"), "was answered");
  EXPECT_NE(refusal("SELECT 'a' LIKE '" + std::string(1'000, '%') + "'"), "was answered");
}

TEST_F(Query, TimeAndRowsAreBounded) {
  const char* const endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
  const auto cut = ask(endless, {.rows_most = 5});
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->rows.size(), 5U);
  EXPECT_THAT(cut->cut, HasSubstr("5 rows"));
  const auto all = ask("SELECT step FROM steps", {.rows_most = 3});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->cut, "");
  const auto large =
      ask("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
          "SELECT printf('%1000000d', x) FROM c",
          {.bytes_most = 3'500'000});
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(large->rows.size(), 3U);
  EXPECT_NE(large->cut, "");
  const auto late = ask("SELECT max(x) FROM (" + std::string(endless) + ")", {.timeout_s = 0.01});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
}

TEST_F(Query, ARunOfAnEarlierVersionLacksColumnsAndIsNotChanged) {
  {
    auto store = trace::Database::create(run_ + "/run.sqlite");
    ASSERT_TRUE(store);
    ASSERT_TRUE(
        store->execute("ALTER TABLE step DROP COLUMN source; DROP TABLE prediction; "
                       "DROP TABLE stage"));
  }
  const std::string before = bytes_of_file(run_ + "/run.sqlite");
  const auto steps = ask("SELECT told_by, duration_ms FROM steps");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->rows.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<std::nullptr_t>(steps->rows[0][0]));
  const auto trials = ask("SELECT * FROM trials");
  ASSERT_TRUE(trials) << trials.error().message;
  EXPECT_TRUE(trials->rows.empty());
  EXPECT_EQ(trials->columns.size(), 9U);
  EXPECT_EQ(bytes_of_file(run_ + "/run.sqlite"), before);
}

TEST_F(Query, WhatAFileBringsAlongDoesNothing) {
  {
    auto store = trace::Database::create(run_ + "/run.sqlite");
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->execute(
        "ALTER TABLE step RENAME TO kept; CREATE VIEW step AS SELECT load_extension('x') AS pid, "
        "idx, start_ns, end_ns, samples, source FROM kept"));
  }
  EXPECT_NE(refusal("SELECT pid FROM steps"), "was answered");
  {
    auto store = trace::Database::create(run_ + "/run.sqlite");
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->execute("CREATE VIRTUAL TABLE other USING fts5(x)"));
  }
  EXPECT_THAT(refusal("SELECT 1"), HasSubstr("other"));
}

TEST_F(Query, ANewerVersionIsRefusedByName) {
  auto store = trace::Database::create(run_ + "/run.sqlite");
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->execute("UPDATE run SET value = 'unstarve.run/2' WHERE key = 'schema'"));
  EXPECT_THAT(refusal("SELECT 1"), HasSubstr("unstarve.run/2"));
}

}  // namespace
}  // namespace unstarve::runs
