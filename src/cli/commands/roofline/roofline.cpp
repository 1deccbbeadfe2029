#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "cli/commands/commands.h"
#include "cli/commands/roofline/roofs_text.h"
#include "cli/console/stop_signals.h"
#include "cli/console/terminal.h"
#include "cli/options/emulation_options.h"
#include "host/host_files.h"
#include "launch/emulation/emulated_job.h"
#include "launch/installation.h"
#include "launch/job_python.h"
#include "report/text/live.h"
#include "report/words/utf8.h"
#include "roofline/roofs/gpu/gpu_state.h"
#include "roofline/roofs/measuring/measure.h"
#include "roofline/roofs/store/roofline_store.h"

namespace unstarve::cli {

namespace {

constexpr double kShortestS = 0.1;
constexpr double kLongestS = 3600;
constexpr int kMostEmulatedGpus = 64;
// 128 + SIGINT, as a shell says it.
constexpr int kStopped = 130;

struct RooflineOptions {
  roofline::MeasureOptions measure;
  std::string python;   // as it was named
  std::string emulate;  // a GPU; empty: this machine's
  int gpus = 1;         // of the emulated ones
  bool show = false;
  bool json = false;
};

void print(const RooflineOptions& options, const roofline::RooflineDocument& document) {
  write_text(Stream::kOut,
             options.json ? report::without_controls(roofline::write_roofline_document(document))
                          : roofs_text(document, text_options(Stream::kOut)));
}

/// What is kept of the machine; a file that cannot be read is said, and measured anew.
roofline::RooflineDocument load_known(const roofline::RooflineStore& store,
                                      const roofline::Machine& machine, bool modelled) {
  roofline::RooflineDocument document;
  auto known = store.load(roofline::machine_key(machine), modelled);
  if (known) {
    document = std::move(*known);
  } else if (known.error().code != ErrorCode::kNotFound) {
    write_notes({known.error().message + "; it will be replaced"});
  }
  document.machine = machine;
  document.modelled = modelled;
  document.unstarve_version = UNSTARVE_VERSION;
  document.notes.clear();
  return document;
}

bool has_emulated(const roofline::Machine& machine) {
  return std::any_of(machine.gpus.begin(), machine.gpus.end(), roofline::is_emulated);
}

/// Whose CPU, memory and disk are measured, whatever GPUs are emulated on it.
roofline::Machine without_emulated(roofline::Machine machine) {
  auto& gpus = machine.gpus;
  gpus.erase(std::remove_if(gpus.begin(), gpus.end(), roofline::is_emulated), gpus.end());
  return machine;
}

void show(const RooflineOptions& options, const roofline::RooflineStore& store,
          const roofline::Machine& machine, CommandContext& context) {
  const auto known = store.load(roofline::machine_key(machine), has_emulated(machine));
  if (known) return print(options, *known);
  Error error = known.error();
  if (error.code == ErrorCode::kNotFound) error.message += ": `unstarve roofline` measures it";
  report_error(context, error);
}

/// Puts what is new among what is kept: of emulated GPUs into a document of their own. What cannot
/// be kept is said, once.
class Keeper {
 public:
  Keeper(const roofline::RooflineStore& store, const roofline::Machine& machine)
      : store_(store), real_(load_known(store, without_emulated(machine), false)) {
    if (has_emulated(machine)) modelled_ = load_known(store, machine, true);
  }

  void keep(const roofline::Session& session, const std::vector<std::string>& complete) {
    roofline::MachineRoofs real = session.result();
    if (modelled_) {
      const roofline::MachineRoofs of_gpus = take_gpus(real);
      keep_in(*modelled_, of_gpus, complete, session);
    }
    std::vector<std::string> groups = complete;
    if (modelled_) groups.erase(std::remove(groups.begin(), groups.end(), "gpu"), groups.end());
    keep_in(real_, real, groups, session);
  }

 private:
  /// Those of GPUs, which `from` has no longer.
  static roofline::MachineRoofs take_gpus(roofline::MachineRoofs& from) {
    roofline::MachineRoofs taken;
    const auto take = [](auto& all, auto& others) {
      const auto rest = std::stable_partition(all.begin(), all.end(), [](const auto& each) {
        return roofline::group_of(each.name) != "gpu";
      });
      others.assign(std::make_move_iterator(rest), std::make_move_iterator(all.end()));
      all.erase(rest, all.end());
    };
    take(from.roofs, taken.roofs);
    take(from.absent, taken.absent);
    return taken;
  }

  void keep_in(roofline::RooflineDocument& known, const roofline::MachineRoofs& measured,
               const std::vector<std::string>& complete, const roofline::Session& session) {
    roofline::merge(measured, complete, known.known);
    known.notes = session.notes();
    if (failed_ || (measured.roofs.empty() && measured.absent.empty())) return;
    if (const Status saved = store_.save(known); !saved) {
      failed_ = true;
      write_notes({"what is measured is not kept: " + saved.error().message});
    }
  }

  const roofline::RooflineStore& store_;
  roofline::RooflineDocument real_;
  std::optional<roofline::RooflineDocument> modelled_;
  bool failed_ = false;
};

void measure(const RooflineOptions& options, const roofline::RooflineStore& store,
             const host::HostFiles& files, const roofline::Machine& machine,
             CommandContext& context) {
  auto signals = StopSignals::open();
  if (!signals) return report_error(context, signals.error());
  SteadyClock clock;
  report::ProgressOptions shown = progress_options();
  shown.quiet_ns = 0;
  report::ProgressLine progress(clock, shown, [](auto text) { write_text(Stream::kErr, text); });
  roofline::Session session(
      clock, {.stopped = [&signals] { return signals->came(); },
              .doing = [&progress](const auto& activity) { progress.update(activity); }});
  Keeper keeper(store, machine);
  roofline::measure(machine, files, options.measure, session,
                    [&](const auto& complete) { keeper.keep(session, complete); });
  progress.finish("");
  roofline::RooflineDocument measured;
  measured.machine = machine;
  measured.modelled = has_emulated(machine);
  measured.unstarve_version = UNSTARVE_VERSION;
  measured.known = session.result();
  measured.notes = session.notes();
  if (session.stopped()) {
    keeper.keep(session, {});
    write_notes({"stopped: what was measured until then follows"});
    context.exit_code = kStopped;
  }
  print(options, measured);
}

/// This command once more, where emulated GPUs are.
void run_emulated(const RooflineOptions& options, CommandContext& context) {
  std::vector<std::string> words = {
      context.executable, "roofline",
      "--disk",           options.measure.disk.folder,
      "--disk-size",      std::to_string(options.measure.disk.most_bytes),
      "--seconds",        fmt::format("{}", options.measure.seconds)};
  const auto& only = options.measure.only;
  words.insert(words.end(),
               {"--only", only.empty() ? "gpu" : fmt::format("{}", fmt::join(only, ","))});
  if (!options.python.empty()) words.insert(words.end(), {"--python", options.python});
  if (options.show) words.emplace_back("--show");
  if (options.json) words.emplace_back("--json");
  launch::EmulationOptions wanted;
  wanted.gpu = options.emulate;
  wanted.gpus = options.gpus;
  auto emulation = begin_emulation(context, wanted, words);
  if (!emulation) return report_error(context, emulation.error());
  launch::EmulatedJobOptions job;
  job.command = words;
  const auto done = launch::run_emulated(*emulation, job);
  if (!done) return report_error(context, done.error());
  if (done->not_started) return report_error(context, *done->not_started);
  context.exit_code = done->exit.exit_code;
}

void run_roofline(RooflineOptions& options, CommandContext& context) {
  if (const Status known = roofline::check_parts(options.measure.only); !known) {
    return report_error(context, known.error());
  }
  if (!options.emulate.empty()) return run_emulated(options, context);
  options.measure.python = launch::find_job_python(options.python, {}).program;
  options.measure.photo_folder = launch::find_installation(context.executable).photo_dir;
  const host::HostFiles files;
  auto machine = roofline::look_at_machine(files);
  if (!machine) return report_error(context, machine.error());
  machine->gpus = roofline::look_at_gpus();
  io::Files plain;
  const roofline::RooflineStore store(plain, roofline::RooflineStore::default_folder());
  if (options.show) return show(options, store, *machine, context);
  measure(options, store, files, *machine, context);
}

}  // namespace

void add_roofline_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "roofline", "measure what this machine reaches at most: its roofs, kept for each machine");
  auto options = std::make_shared<RooflineOptions>();  // lives as long as the parser's callback
  std::string names;
  for (const roofline::Part& part : roofline::all_parts()) {
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
  command.option("--python", options->python,
                 "the interpreter whose torch multiplies matrices (default: the first on PATH)");
  command.option("--emulate", options->emulate,
                 "measure this GPU emulated, for what is modelled: a profile's name or file");
  command.option("--gpus", options->gpus, "how many GPUs are emulated")
      .between(1, kMostEmulatedGpus)
      .shows_default();
  command.flag("--show", options->show, "show what is kept of this machine, and measure nothing");
  command.flag("--json", options->json, "print one JSON object");
  command.when_named([&context, options] { run_roofline(*options, context); });
}

}  // namespace unstarve::cli
