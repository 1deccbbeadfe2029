#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "cli/options/emulation_options.h"
#include "launch/emulation/emulated_job.h"

namespace unstarve::cli {

namespace {

// What timeout(1) answers when it had to end the command.
constexpr int kLimitReached = 124;
constexpr double kLongestLimitS = 31'536'000;

struct EmulateOptions {
  std::vector<std::string> gpus;  // named before `--`: at most one
  launch::EmulationOptions emulation;
  double limit_s = 0;
};

/// Checks what the parser cannot, and chooses the GPU.
Status complete(EmulateOptions& options, const CommandContext& context) {
  if (context.job.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "the job goes after `--`: unstarve emulate a100 -- python train.py");
  }
  if (options.gpus.size() > 1) {
    return fail(ErrorCode::kInvalidArgument, "one GPU is named before `--`, not also '{}'",
                options.gpus[1]);
  }
  const std::string by_default = emulated_by_default();
  if (!by_default.empty()) options.emulation.gpu = by_default;
  if (!options.gpus.empty()) options.emulation.gpu = options.gpus.front();
  return {};
}

void emulate(EmulateOptions& options, CommandContext& context) {
  if (const Status checked = complete(options, context); !checked) {
    return report_error(context, checked.error());
  }
  auto emulation = begin_emulation(context, options.emulation, context.job);
  if (!emulation) return report_error(context, emulation.error());
  EmulationNotes notes(*emulation, EmulationNotes::Range::kSaid);
  launch::EmulatedJobOptions job;
  job.command = context.job;
  job.limit_s = options.limit_s;
  job.on_tick = [&notes] { notes.update(); };
  const auto done = launch::run_emulated(*emulation, job);
  if (!done) return report_error(context, done.error());
  if (done->not_started) {
    report_error(context, *done->not_started);
    context.exit_code = exit_code_of_start(*done->not_started);
    return;
  }
  notes.finish();
  context.exit_code = done->exit.exit_code;
  if (done->limit_reached) {
    write_notes({fmt::format("the job was ended at its limit of {:g} s", options.limit_s)});
    context.exit_code = kLimitReached;
  }
}

}  // namespace

void add_emulate_command(CommandLine& line, CommandContext& context) {
  Command command =
      line.add_command("emulate",
                       "run any CUDA job unchanged, in real time, on emulated GPUs\n"
                       "example: unstarve emulate a100 -- python train.py --epochs 1");
  auto options = std::make_shared<EmulateOptions>();  // lives as long as the parser's callback
  add_emulation_options(command, options->emulation);
  command
      .option("--limit", options->limit_s,
              "seconds after which the job is asked to stop; the exit code is 124 then")
      .between(0, kLongestLimitS);
  command.option("GPU", options->gpus,
                 "a profile's name or file, or a profiler's trace of a job on a real GPU "
                 "(default: what " +
                     std::string(kEmulateVariable) + " says, else a100); then -- COMMAND");
  command.when_named([&context, options] { emulate(*options, context); });
}

}  // namespace unstarve::cli
