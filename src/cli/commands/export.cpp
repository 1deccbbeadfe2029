#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/stop_signals.h"
#include "cli/console/terminal.h"
#include "sink/run_follower.h"
#include "sink/sink.h"

namespace unstarve::cli {

namespace {

struct ExportOptions {
  std::string run;
  std::string kind = "jsonl";
  std::string target = "-";
  bool follow = false;
};

/// What watches a run writes ten times a second: of one that is silent for so long it was killed.
constexpr std::chrono::seconds kSilence{10};
constexpr std::chrono::milliseconds kBetween{500};

Result<sink::SinkKind> find_kind(const std::string& name) {
  std::string names;
  for (const sink::SinkKind& kind : sink::sink_kinds()) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return fail(ErrorCode::kInvalidArgument, "--as {}: there is no such kind; there are: {}", name,
              names);
}

/// Until the run has ended, or somebody asks for the end.
Status follow(const ExportOptions& options, sink::RunFollower& follower, sink::Sink& sink) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  auto heard = std::chrono::steady_clock::now();
  while (!stop->came()) {
    const auto followed = follower.advance(sink);
    if (!followed) return forward_error(followed);
    if (followed->has_ended) return {};
    const auto now = std::chrono::steady_clock::now();
    if (followed->rows > 0) heard = now;
    if (now - heard > kSilence) {
      say(fmt::format("nothing new in {} for {} s: whatever watched it was killed", options.run,
                      kSilence.count()));
      return follower.give_verdict(sink);
    }
    std::this_thread::sleep_for(kBetween);
  }
  return {};
}

Status export_run(const ExportOptions& options) {
  const auto kind = find_kind(options.kind);
  if (!kind) return forward_error(kind);
  // What is no run leaves no file.
  auto follower = sink::RunFollower::open(options.run);
  if (!follower) return forward_error(follower);
  const auto sink = kind->open(options.target);
  if (!sink) return forward_error(sink);
  if (options.follow) return follow(options, *follower, **sink);
  const auto followed = follower->advance(**sink);
  if (!followed) return forward_error(followed);
  return followed->has_ended ? Status{} : follower->give_verdict(**sink);
}

}  // namespace

void add_export_command(CommandLine& line, CommandContext& context) {
  auto options = std::make_shared<ExportOptions>();
  Command command =
      line.add_command("export", "hand a run's samples, steps and verdict to other programs");
  command.option("run", options->run, "folder of a run").required();
  std::string kinds;
  for (const sink::SinkKind& kind : sink::sink_kinds()) {
    kinds += fmt::format("{}{} ({})", kinds.empty() ? "" : ", ", kind.name, kind.what);
  }
  command.option("--as", options->kind, kinds).shows_default();
  command.option("--out", options->target, "file that is written; -: standard output")
      .shows_default();
  command.flag("--follow", options->follow, "a run that goes on: until it has ended");
  command.when_named([options, &context] {
    if (const Status done = export_run(*options); !done) report_error(context, done.error());
  });
}

}  // namespace unstarve::cli
