#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/number_words.h"
#include "base/shell_word.h"
#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "feed/pack/pack_job.h"
#include "report/terminal/terminal.h"
#include "report/text/live.h"
#include "report/words/json_text.h"
#include "report/words/words.h"

namespace unstarve::cli {
namespace {

constexpr std::size_t kNamesShown = 10;

struct PackCommand {
  feed::PackOptions job;
  bool json = false;
};

std::string difference_text(double shards, double source) {
  return source > 0 ? fmt::format("{:+.1f} %", 100 * (shards / source - 1)) : "";
}

/// What to expect, before it starts.
void announce(const feed::PackEstimate& estimate, const PackCommand& command) {
  std::string text = fmt::format(
      "{} images in {}, about {}\n"
      "  to expect: {} in {} ({}), {:.0f} images/s with {} thread(s), {}\n",
      estimate.samples, command.job.source, bytes_text(estimate.source_bytes),
      bytes_text(estimate.shard_bytes), command.job.target,
      difference_text(estimate.shard_bytes, estimate.source_bytes), estimate.images_per_s,
      estimate.threads, seconds_text(estimate.seconds));
  if (estimate.packed_before > 0) {
    text += fmt::format("  going on: {} images were packed before\n", estimate.packed_before);
  }
  if (estimate.left_out > 0) {
    text += fmt::format("  {} files are no images and are left out\n", estimate.left_out);
  }
  write_text(Stream::kErr, text);
}

std::string progress_text(const feed::PackProgress& progress) {
  const bool packing = progress.phase == feed::PackPhase::kPacking;
  const auto left = static_cast<double>(progress.total - progress.done);
  return fmt::format("  {}  {} of {}  {:.0f} images/s  {} left", packing ? "packing" : "checking",
                     progress.done, progress.total, progress.images_per_s,
                     seconds_text(left / progress.images_per_s));
}

/// Names come from files: nothing in them may reach the terminal as a command.
std::string shown(const std::string& name) {
  return report::printable(name, text_options(Stream::kErr));
}

void warn_of_files(const feed::PackSummary& summary) {
  std::string text;
  for (const auto& [why, reason] : summary.kept_as_bytes) {
    text += fmt::format("unstarve: {} kept as {} bytes: {} (such as {})\n", reason.count,
                        reason.count == 1 ? "its" : "their", shown(why), shown(reason.example));
  }
  for (std::size_t i = 0; i < summary.cannot_be_decoded.size() && i < kNamesShown; ++i) {
    text += fmt::format(
        "unstarve: {}: 12 bits per sample, which no loader here decodes: convert or remove it\n",
        shown(summary.cannot_be_decoded[i]));
  }
  write_text(Stream::kErr, text);
}

nlohmann::ordered_json to_json(const feed::PackEstimate& estimate) {
  return {{"images", estimate.samples},
          {"packed_before", estimate.packed_before},
          {"tried", estimate.tried},
          {"source_bytes", estimate.source_bytes},
          {"shard_bytes", estimate.shard_bytes},
          {"images_per_s", estimate.images_per_s},
          {"seconds", estimate.seconds},
          {"left_out", estimate.left_out},
          {"threads", estimate.threads}};
}

void print_json(const PackCommand& command, const feed::PackEstimate& estimate,
                const feed::PackSummary& summary) {
  nlohmann::ordered_json kept = nlohmann::ordered_json::array();
  for (const auto& [why, reason] : summary.kept_as_bytes) {
    kept.push_back({{"why", why}, {"count", reason.count}, {"example", reason.example}});
  }
  const nlohmann::ordered_json document = {
      {"schema", "unstarve.pack/1"},
      {"source", command.job.source},
      {"target", command.job.target},
      {"estimate", to_json(estimate)},
      {"images", summary.samples},
      {"packed_now", summary.packed_now},
      {"coefficients", summary.coefficients},
      {"kept_as_bytes", summary.samples - summary.coefficients},
      {"kept_as_bytes_now", kept},
      {"cannot_be_decoded", summary.cannot_be_decoded},
      {"source_bytes", summary.source_bytes},
      {"shard_bytes", summary.shard_bytes},
      {"shards", summary.shards},
      {"verified", true},
      {"seconds", summary.seconds}};
  write_text(Stream::kOut, report::json_text(document));
}

void print_text(const PackCommand& command, const feed::PackSummary& summary) {
  const auto source = static_cast<double>(summary.source_bytes);
  const auto shards = static_cast<double>(summary.shard_bytes);
  std::string text = fmt::format(
      "{} images in {} shard(s), read back and checked, in {}\n"
      "  {} -> {} ({})\n"
      "  {} as coefficients, {} as their bytes\n",
      summary.samples, summary.shards, seconds_text(summary.seconds), bytes_text(source),
      bytes_text(shards), difference_text(shards, source), summary.coefficients,
      summary.samples - summary.coefficients);
  if (summary.packed_now < summary.samples) {
    text += fmt::format("  {} of them were packed before\n", summary.samples - summary.packed_now);
  }
  text += fmt::format("next: unstarve bench {}\n", shell_word(command.job.target));
  write_text(Stream::kOut, text);
}

Status run_pack(const PackCommand& command) {
  const SteadyClock clock;
  Result<feed::PackJob> job = feed::PackJob::open(command.job);
  if (!job) return forward_error(job);
  const Result<feed::PackEstimate> estimate = job->estimate();
  if (!estimate) return forward_error(estimate);
  announce(*estimate, command);
  report::ProgressLine line(clock, progress_options(),
                            [](std::string_view text) { write_text(Stream::kErr, text); });
  const Result<feed::PackSummary> summary = job->run(
      [&line](const feed::PackProgress& progress) { line.update(progress_text(progress)); });
  line.clear();
  if (!summary) return forward_error(summary);
  warn_of_files(*summary);
  if (command.json) {
    print_json(command, *estimate, *summary);
  } else {
    print_text(command, *summary);
  }
  return {};
}

}  // namespace

void add_pack_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<PackCommand>();
  Command command = line.add_command(
      "pack", "turn a folder of images into shards, which are read several times as fast");
  command
      .option("source", options->job.source,
              "folder with one sub-folder of images per class, or with images")
      .required();
  command
      .option("target", options->job.target,
              "folder for the shards; an interrupted run goes on when it is repeated")
      .required();
  command.option("--threads", options->job.threads, "packing threads (0: all usable CPUs)")
      .shows_default();
  command.flag("--keep-original-bytes", options->job.keep_original_bytes,
               "keep each JPEG's own bytes too: unpacking gives identical files");
  command
      .option("--shard-bytes", options->job.shard_bytes,
              "size that no shard of several images exceeds: 1GiB, 256MiB, ...")
      .is_size()
      .shows_default("1GiB");
  command.flag("--json", options->json, "print one JSON object");
  command.when_named([&context, options] {
    const Status status = run_pack(*options);
    if (!status) return report_error(context, status.error());
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
