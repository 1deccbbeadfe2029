#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/units.h"
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
Status follow(const std::string& run, sink::RunFollower& follower, sink::Sink& sink, Clock& clock) {
  auto stop = StopSignals::open();
  if (!stop) return forward_error(stop);
  const auto end = follower.follow(sink, clock, [&stop] { return stop->came(); });
  if (!end) return forward_error(end);
  if (*end != sink::RunFollower::End::kSilent) return {};
  say(fmt::format("nothing new in {} for {} s: whatever watched it was killed", run,
                  sink::RunFollower::kSilenceNs / kSecondNs));
  return follower.give_verdict(sink);
}

Status hand_over(sink::RunFollower& follower, sink::Sink& sink) {
  const auto followed = follower.advance(sink);
  if (!followed) return forward_error(followed);
  return followed->has_ended ? Status{} : follower.give_verdict(sink);
}

Status export_run(const ExportOptions& options, Clock& clock) {
  const auto kind = find_kind(options.kind);
  if (!kind) return forward_error(kind);
  // What is no run leaves no file.
  auto follower = sink::RunFollower::open(options.run);
  if (!follower) return forward_error(follower);
  const auto sink = kind->open(options.target);
  if (!sink) return forward_error(sink);
  const Status handed =
      options.follow ? follow(options.run, *follower, **sink, clock) : hand_over(*follower, **sink);
  return handed ? (*sink)->finish() : handed;
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
  command
      .option("--out", options->target,
              "file that is written; -: standard output; of otlp an address too")
      .shows_default();
  command.flag("--follow", options->follow, "a run that goes on: until it has ended");
  command.when_named([options, &context] {
    SteadyClock clock;
    if (const Status done = export_run(*options, clock); !done) {
      report_error(context, done.error());
    }
  });
}

}  // namespace unstarve::cli
