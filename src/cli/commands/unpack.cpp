#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/number_words.h"
#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "feed/pack/unpack_job.h"
#include "report/text/live.h"
#include "report/words/json_text.h"
#include "report/words/words.h"

namespace unstarve::cli {
namespace {

struct UnpackCommand {
  feed::UnpackOptions job;
  bool json = false;
};

void print(const UnpackCommand& command, const feed::UnpackSummary& summary) {
  if (command.json) {
    const nlohmann::ordered_json document = {
        {"schema", "unstarve.unpack/1"},  {"source", command.job.source},
        {"target", command.job.target},   {"files", summary.samples},
        {"identical", summary.identical}, {"same_pixels", summary.same_pixels},
        {"bytes", summary.bytes}};
    return write_text(Stream::kOut, report::json_text(document));
  }
  write_text(Stream::kOut,
             fmt::format("{} files, {}, in {}\n"
                         "  {} identical to those that were packed\n"
                         "  {} JPEGs with identical pixels, made anew\n",
                         summary.samples, bytes_text(static_cast<double>(summary.bytes)),
                         command.job.target, summary.identical, summary.same_pixels));
}

Status run_unpack(const UnpackCommand& command) {
  const SteadyClock clock;
  report::ProgressLine line(clock, progress_options(),
                            [](std::string_view text) { write_text(Stream::kErr, text); });
  const Result<feed::UnpackSummary> summary =
      feed::unpack_shards(command.job, [&line](std::uint64_t done, std::uint64_t total) {
        line.update(fmt::format("  unpacking  {} of {}", done, total));
      });
  line.clear();
  if (!summary) return forward_error(summary);
  print(command, *summary);
  return {};
}

}  // namespace

void add_unpack_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<UnpackCommand>();
  Command command = line.add_command("unpack", "give back the files that shards were packed from");
  command.option("source", options->job.source, "folder of shards, or one shard").required();
  command
      .option("target", options->job.target,
              "folder for the files; those of the same names are replaced")
      .required();
  command.option("--threads", options->job.threads, "threads (0: all usable CPUs)").shows_default();
  command.flag("--json", options->json, "print one JSON object");
  command.when_named([&context, options] {
    const Status status = run_unpack(*options);
    if (!status) return report_error(context, status.error());
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
