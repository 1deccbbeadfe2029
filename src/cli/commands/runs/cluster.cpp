#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/commands/runs/runs_commands.h"
#include "cli/console/terminal.h"
#include "report/runs/cluster_text.h"
#include "runs/cluster/job_records.h"

namespace unstarve::cli {

namespace {

constexpr int kMostJobs = 1'000'000;
// A million jobs, of which each has a record of a kilobyte.
constexpr std::size_t kTableBytesMax = std::size_t{1} << 30;

struct ClusterOptions {
  std::string table = "-";
  std::size_t at_most = 20;
  bool json = false;
};

/// Of a pipe, too, which has no size.
Result<std::string> whole_text(std::istream& input, const std::string& name) {
  std::string text;
  std::array<char, 65536> piece;
  while (input.read(piece.data(), piece.size()) || input.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(input.gcount()));
    if (text.size() > kTableBytesMax) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} has more than {} bytes: ask sacct for fewer days", name, kTableBytesMax);
    }
  }
  if (input.bad()) return fail(ErrorCode::kIo, "{} cannot be read", name);
  return text;
}

Status show_jobs(const ClusterOptions& options) {
  const bool from_stdin = options.table == "-";
  if (from_stdin && ::isatty(STDIN_FILENO) == 1) {
    return fail(ErrorCode::kInvalidArgument,
                "what sacct printed is read from a file or a pipe: `sacct -X -P -S now-7days -o "
                "JobID,User,State,AdminComment,JobName | unstarve runs sacct`");
  }
  std::ifstream file;
  if (!from_stdin) {
    file.open(options.table, std::ios::binary);
    if (!file) return fail_errno(errno, "cannot open " + options.table);
  }
  const auto table = whole_text(from_stdin ? std::cin : file, options.table);
  if (!table) return forward_error(table);
  const auto records = runs::read_job_records(*table);
  if (!records) return forward_error(records);
  write_text(Stream::kOut, options.json ? report::cluster_json(*records, options.at_most)
                                        : report::cluster_text(*records, options.at_most,
                                                               text_options(Stream::kOut)));
  return {};
}

}  // namespace

void add_runs_sacct(Command& runs, CommandContext& context) {
  auto options = std::make_shared<ClusterOptions>();  // lives as long as the parser's callback
  Command command = runs.add_command(
      "sacct",
      "which jobs of a Slurm cluster let their GPUs idle, by jobstats' and unstarve's summaries\n"
      "example: sacct -a -X -P -S now-7days -o JobID,User,State,AdminComment,JobName | unstarve "
      "runs sacct");
  command.option("FILE", options->table, "what sacct printed; - is standard input").shows_default();
  command.option("--limit", options->at_most, "so many jobs at most")
      .between(1, kMostJobs)
      .shows_default();
  command.flag("--json", options->json, "one JSON object (docs/formats/cluster_jobs.md)");
  command.when_named([options, &context] {
    if (const Status done = show_jobs(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
