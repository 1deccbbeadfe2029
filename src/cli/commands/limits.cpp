#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/limits_text.h"
#include "cli/stop_signals.h"
#include "cli/terminal.h"
#include "host/host_files.h"
#include "limits/measure.h"
#include "limits/store/limits_store.h"
#include "report/text/live.h"

namespace unstarve::cli {

namespace {

constexpr double kShortestS = 0.1;
constexpr double kLongestS = 3600;
// 128 + SIGINT, as a shell says it.
constexpr int kStopped = 130;

struct Options {
  limits::MeasureOptions measure;
  bool show = false;
  bool json = false;
};

void print(const Options& options, const limits::LimitsDocument& document) {
  write_text(Stream::kOut, options.json ? limits::write_limits_document(document)
                                        : limits_text(document, text_options(Stream::kOut)));
}

/// What is kept of the machine; a file that cannot be read is said, and measured anew.
limits::LimitsDocument load_known(const limits::LimitsStore& store,
                                  const limits::Machine& machine) {
  limits::LimitsDocument document;
  auto known = store.load(limits::machine_key(machine), false);
  if (known) {
    document = std::move(*known);
  } else if (known.error().code != ErrorCode::kNotFound) {
    write_notes({known.error().message + "; it will be replaced"});
  }
  document.machine = machine;
  document.unstarve_version = UNSTARVE_VERSION;
  document.notes.clear();
  return document;
}

void show(const Options& options, const limits::LimitsStore& store, const limits::Machine& machine,
          CommandContext& context) {
  const auto known = store.load(limits::machine_key(machine), false);
  if (!known && known.error().code == ErrorCode::kNotFound) {
    return report_error(
        context,
        Error{ErrorCode::kNotFound, known.error().message + ": `unstarve limits` measures it", 0});
  }
  if (!known) return report_error(context, known.error());
  print(options, *known);
}

/// Puts what is new among what is kept. What cannot be kept is said, once.
class Keeper {
 public:
  Keeper(const limits::LimitsStore& store, limits::LimitsDocument known)
      : store_(store), known_(std::move(known)) {}

  void keep(const limits::Session& session, const std::vector<std::string>& complete) {
    limits::merge(session.result(), complete, known_.known);
    known_.notes = session.notes();
    if (failed_ || session.result().roofs.empty()) return;
    if (const Status saved = store_.save(known_); !saved) {
      failed_ = true;
      write_notes({"what is measured is not kept: " + saved.error().message});
    }
  }

 private:
  const limits::LimitsStore& store_;
  limits::LimitsDocument known_;
  bool failed_ = false;
};

void measure(const Options& options, const limits::LimitsStore& store, const host::HostFiles& files,
             const limits::Machine& machine, CommandContext& context) {
  auto signals = StopSignals::open();
  if (!signals) return report_error(context, signals.error());
  SteadyClock clock;
  report::ProgressOptions shown = progress_options();
  shown.quiet_ns = 0;
  report::ProgressLine progress(clock, shown, [](auto text) { write_text(Stream::kErr, text); });
  limits::Session session(
      clock, {.stopped = [&signals] { return signals->came(); },
              .doing = [&progress](const std::string& what) { progress.update(what); }});
  Keeper keeper(store, load_known(store, machine));
  limits::measure(machine, files, options.measure, session,
                  [&](const auto& complete) { keeper.keep(session, complete); });
  progress.finish("");
  limits::LimitsDocument measured;
  measured.machine = machine;
  measured.unstarve_version = UNSTARVE_VERSION;
  measured.known = session.result();
  measured.notes = session.notes();
  if (session.stopped()) {
    keeper.keep(session, {});
    write_notes({"stopped: what was measured until then is kept"});
    context.exit_code = kStopped;
  }
  print(options, measured);
}

void run(const Options& options, CommandContext& context) {
  if (const Status known = limits::check_parts(options.measure.only); !known) {
    return report_error(context, known.error());
  }
  const host::HostFiles files;
  const auto machine = limits::look_at_machine(files);
  if (!machine) return report_error(context, machine.error());
  io::Files plain;
  const limits::LimitsStore store(plain, limits::LimitsStore::default_folder());
  if (options.show) return show(options, store, *machine, context);
  measure(options, store, files, *machine, context);
}

}  // namespace

void add_limits_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "limits", "measure what this machine reaches at most: its roofs, kept for each machine");
  auto options = std::make_shared<Options>();  // lives as long as the parser's callback
  std::string names;
  for (const limits::Part& part : limits::all_parts()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
  }
  command.option("--only", options->measure.only, "measure only some of " + names)
      .separated_by_commas();
  command
      .option("--disk", options->measure.disk.folder,
              "a folder on the disk to measure, where a file is written for the time")
      .shows_default();
  command
      .option("--disk-size", options->measure.disk.most_bytes,
              "that file's size at most (a tenth of what is free if that is less)")
      .is_size()
      .shows_default("1GiB");
  command.option("--seconds", options->measure.seconds, "how long all takes, about")
      .between(kShortestS, kLongestS)
      .shows_default();
  command.flag("--show", options->show, "show what is kept of this machine, and measure nothing");
  command.flag("--json", options->json, "print one JSON object");
  command.when_named([&context, options] { run(*options, context); });
}

}  // namespace unstarve::cli
