#include "trace/store/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/test_folder.h"
#include "trace/load_run.h"
#include "trace/run_reader.h"
#include "trace/run_writer.h"
#include "trace/store/run_schema.h"

namespace unstarve::trace {
namespace {

class Tables : public testing::Test {
 protected:
  std::unique_ptr<RunWriter> create() {
    auto writer = RunWriter::create(folder_.path() + "/run", RunInfo{}, {});
    EXPECT_TRUE(writer) << writer.error().message;
    return std::move(*writer);
  }
  Database open() {
    auto database = Database::create(folder_.path() + "/run/run.sqlite");
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
  }

  TestFolder folder_;
};

std::vector<std::string> columns_of(const Database& database, const std::string& table) {
  std::vector<std::string> names;
  const Status read =
      for_each_row(database, "SELECT name FROM pragma_table_info(?) ORDER BY cid", {table},
                   [&names](const Statement& row) { names.emplace_back(row.text(0)); });
  EXPECT_TRUE(read);
  return names;
}

/// docs/formats/run.md's rows of tables: what stands beside a name.
std::map<std::string, std::string> documented() {
  std::map<std::string, std::string> rows;
  std::ifstream page(std::string(UNSTARVE_SOURCE_DIR) + "/docs/formats/run.md");
  bool is_of_tables = false;
  for (std::string line; std::getline(page, line);) {
    is_of_tables = is_of_tables || line == "## run.sqlite";
    if (!is_of_tables) continue;
    const std::size_t second = line.find(" | ", 2);
    if (!line.starts_with("| ") || second == std::string::npos) continue;
    rows.emplace(line.substr(2, second - 2), line.substr(second + 3));
  }
  return rows;
}

TEST_F(Tables, ThePageNamesEachColumnInItsOrder) {
  create().reset();
  const Database database = open();
  const std::map<std::string, std::string> pages = documented();
  std::vector<std::string> tables;
  ASSERT_TRUE(for_each_row(database, "SELECT name FROM sqlite_master WHERE type = 'table'", {},
                           [&tables](const Statement& row) { tables.emplace_back(row.text(0)); }));
  EXPECT_GE(tables.size(), 19U);
  for (const std::string& table : tables) {
    ASSERT_EQ(pages.count(table), 1U) << table;
    const std::string& words = pages.at(table);
    std::size_t at = 0;
    for (const std::string& column : columns_of(database, table)) {
      at = words.find(column, at);
      ASSERT_NE(at, std::string::npos) << table << "." << column;
      at += column.size();
    }
  }
}

TEST_F(Tables, WhatAnEarlierVersionDidNotWriteIsAbsent) {
  {
    auto writer = create();
    LoaderRow loader;
    loader.num_workers = 3;
    loader.flags = LoaderFlags{true, false, true};
    loader.ready_ns = 20;
    writer->add(loader);
    writer->add(HostWorkRow{9, 10, HostWorkKind::kSave, {50, 70}});
    ASSERT_TRUE(writer->finish(80, 0));
  }
  const auto whole = load_run(folder_.path() + "/run");
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_TRUE(whole->loaders.at(0).ready_ns);
  EXPECT_EQ(whole->host_work.size(), 1U);
  Database database = open();
  ASSERT_TRUE(database.execute("ALTER TABLE loader DROP COLUMN ready_ns; DROP TABLE host_work"));
  const auto older = load_run(folder_.path() + "/run");
  ASSERT_TRUE(older) << older.error().message;
  ASSERT_EQ(older->loaders.size(), 1U);
  EXPECT_FALSE(older->loaders[0].ready_ns);
  EXPECT_EQ(older->loaders[0].num_workers, 3);
  EXPECT_TRUE(*older->loaders[0].pin_memory);
  EXPECT_FALSE(*older->loaders[0].persistent_workers);
  EXPECT_TRUE(older->loaders[0].native);
  EXPECT_TRUE(older->host_work.empty());
}

TEST_F(Tables, WhoReadsARunDoesNotKeepItFromEnding) {
  auto writer = create();
  StepRow step;
  step.when = {0, 10};
  writer->add(step);
  ASSERT_TRUE(writer->commit());
  const Result<RunReader> reader = RunReader::open(folder_.path() + "/run");
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->metrics());
  const Status finished = writer->finish(30, 0);
  EXPECT_TRUE(finished) << finished.error().message;
  writer.reset();
  EXPECT_TRUE(RunReader::open(folder_.path() + "/run")->has_ended());
  const Result<Timeline> timeline = load_run(folder_.path() + "/run");
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->steps.size(), 1U);
}

TEST_F(Tables, WhoLooksAtARunThatIsBeingMadeDoesNotKeepItFromStarting) {
  const std::string path = folder_.path() + "/run.sqlite";
  std::ofstream(path).close();
  auto reader = Database::open_read_only(path);
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->execute("BEGIN; SELECT * FROM sqlite_master"));  // its lock is held
  auto database = Database::create(path);
  ASSERT_TRUE(database);
  std::thread goes_soon([held = *std::move(reader)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held = Database();
  });
  const Status made = create_run_schema(*database, 0);
  goes_soon.join();
  EXPECT_TRUE(made) << made.error().message;
}

TEST(StepSource, IsTheSameNumberOnDisk) {
  for (const StepSource source : {StepSource::kOptimizer, StepSource::kLoaderBatch,
                                  StepSource::kBackward, StepSource::kModelCall}) {
    EXPECT_EQ(step_source(number_of(source)), source);
  }
  EXPECT_EQ(number_of(StepSource::kLoaderBatch), 2);
  EXPECT_EQ(step_source(1), StepSource::kOptimizer);
  EXPECT_EQ(step_source(77), StepSource::kOptimizer);
}

}  // namespace
}  // namespace unstarve::trace
