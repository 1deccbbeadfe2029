#include "report/runs/runs_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/runs/rows_text.h"

namespace unstarve::report {
namespace {

using testing::HasSubstr;
using testing::Not;

runs::CollectedRun run_of(const std::string& command_json) {
  runs::CollectedRun run;
  run.summary.name = "2026-05-01_14-03-22_train";
  run.summary.command_json = command_json;
  run.summary.has_ended = true;
  run.summary.exit_code = 0;
  run.summary.duration_s = 12.0;
  run.summary.au_ratio = 0.34;
  return run;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = text.find('\n', from);
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::string table_of(const runs::CollectedRun& run, int width) {
  TextOptions options;
  options.width = width;
  return runs_table({{&run, run.summary.name, 1, runs::RunState::kEnded}}, options);
}

TEST(RunsTable, ALongCommandLosesItsMiddle) {
  std::string words = "[\"python\",\"train.py\"";
  for (int i = 0; i < 20'000; ++i) words += ",\"--option\"";
  const runs::CollectedRun run = run_of(words + ",\"--last\"]");
  const std::string line = lines_of(table_of(run, 100)).at(2);
  EXPECT_LE(display_width(line), 100);
  EXPECT_THAT(line, HasSubstr("python"));
  EXPECT_THAT(line, HasSubstr("…"));
  EXPECT_THAT(line, HasSubstr("--last"));
  EXPECT_THAT(line, HasSubstr("AU 34 %"));
}

TEST(RunsTable, ACommandOfWideCharactersIsCutBetweenThem) {
  std::string word;
  for (int i = 0; i < 300; ++i) word += "\xe7\x81\xab";
  const std::string table = table_of(run_of("[\"" + word + "\"]"), 100);
  EXPECT_LE(display_width(lines_of(table).at(2)), 100);
  EXPECT_THAT(table, Not(HasSubstr("\xEF\xBF\xBD")));
}

TEST(RunsTable, ColumnsThatAreEmptyAreLeftOut) {
  runs::CollectedRun run = run_of("[\"a\"]");
  EXPECT_THAT(table_of(run, 100), Not(HasSubstr("began")));
  EXPECT_THAT(table_of(run, 100), Not(HasSubstr("tags")));
  run.summary.name = "mine";
  run.summary.tags = "kept " + std::string(100, 'x');
  const std::string table = table_of(run, 100);
  EXPECT_THAT(table, HasSubstr("began"));
  EXPECT_THAT(table, HasSubstr("kept"));
  EXPECT_LE(display_width(lines_of(table).at(2)), 110);
}

TEST(RowsText, CsvIsQuotedWhereItHasToBe) {
  runs::QueryResult result;
  result.columns = {"a", "b,c"};
  result.rows = {{std::string("x\"y"), nullptr}, {std::string("two\nlines"), 0.1}};
  EXPECT_EQ(rows_csv(result, {}, false), "a,\"b,c\"\n\"x\"\"y\",\n\"two\nlines\",0.1\n");
  result.rows = {{std::string("\x1b[1m"), runs::Blob{std::string("\x00\xff", 2)}}};
  EXPECT_EQ(rows_csv(result, {}, true), "a,\"b,c\"\n [1m,00ff\n");
}

TEST(RowsText, JsonNeedsANameForEachColumn) {
  runs::QueryResult result;
  result.columns = {"a", "a"};
  EXPECT_FALSE(rows_json(result));
  result.columns = {"a"};
  EXPECT_EQ(*rows_json(result), "[]\n");
  result.rows = {{std::int64_t{1}}};
  EXPECT_EQ(*rows_json(result), "[\n  {\n    \"a\": 1\n  }\n]\n");
}

}  // namespace
}  // namespace unstarve::report
