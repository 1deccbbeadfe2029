#include "runs/query/query.h"

#include <memory>
#include <string>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/runs/runs_commands.h"
#include "cli/console/terminal.h"
#include "report/runs/rows_text.h"
#include "runs/naming.h"

namespace unstarve::cli {

namespace {

constexpr double kLongestTimeoutS = 86'400;
constexpr double kMostRows = 100'000'000;

struct QueryOptions {
  std::string run;
  std::string sql;
  runs::QueryBounds bounds;
  bool rows_asked = false;
  bool json = false;
  bool csv = false;
};

Status write_rows(const QueryOptions& options, const runs::QueryResult& result) {
  const report::TextOptions text = text_options(Stream::kOut);
  const bool for_terminal = is_terminal(Stream::kOut);
  if (options.json) {
    const auto json = report::rows_json(result);
    if (!json) return forward_error(json);
    write_text(Stream::kOut, *json);
  } else if (options.csv) {
    write_text(Stream::kOut, report::rows_csv(result, text, for_terminal));
  } else {
    write_text(Stream::kOut, report::rows_table(result, text, for_terminal));
  }
  return {};
}

/// Rows that are missing, and that nobody asked to leave out, are a failure: a program that reads
/// them must not take them for all.
Status query(const QueryOptions& options, CommandContext& context) {
  const auto folder = runs::find_entry(options.run, kRunsFolder);
  if (!folder) return forward_error(folder);
  const SteadyClock clock;
  const auto result = runs::query(*folder, options.sql, options.bounds, clock);
  if (!result) return forward_error(result);
  if (const Status written = write_rows(options, *result); !written) return written;
  if (result->cut.empty()) return {};
  say(result->cut +
      (options.rows_asked ? "" : "; `--limit` takes more of them, LIMIT in the query fewer"));
  if (!options.rows_asked) context.exit_code = kFailed;
  return {};
}

}  // namespace

void add_query_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<QueryOptions>();  // lives as long as the parser's callback
  Command command = line.add_command(
      "query",
      "ask a run, or a folder of runs, by SQL (docs/formats/query.md); nothing is changed\n"
      "example: unstarve query runs 'SELECT run, au_ratio, cause FROM runs ORDER BY au_ratio'");
  command.option("RUN", options->run, "a run, or a folder of runs: `runs`").required();
  command.option("SELECT", options->sql, "one SELECT over the views").required();
  const Option json = command.flag("--json", options->json, "an array of objects");
  command.flag("--csv", options->csv, "comma-separated values").excludes(json);
  Option limit = command.option("--limit", options->bounds.rows_most, "so many rows at most");
  limit.between(1, kMostRows).shows_default();
  command.option("--timeout", options->bounds.timeout_s, "seconds after which the query is ended")
      .between(0.001, kLongestTimeoutS)
      .shows_default();
  command.when_named([options, limit, &context] {
    options->rows_asked = limit.was_given();
    if (const Status done = query(*options, context); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
