#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/console/terminal.h"
#include "cli/options/command.h"
#include "cli/options/command_line.h"
#include "cli/options/nearest_word.h"

namespace {

constexpr const char* kDescription =
    "Finds out why a GPU starves during training or inference, predicts what each fix would gain,\n"
    "applies it and proves it. Start with `unstarve demo`, or `unstarve run -- python train.py`.";

/// What is said where the first argument is no command; empty where it is one, or an option.
std::string wrong_command(const unstarve::cli::CommandLine& line, int argc, char** argv) {
  using namespace unstarve;
  const std::string_view given = argc > 1 ? argv[1] : "";
  if (given.substr(0, 1) == "-") return {};
  const std::vector<std::string> names = line.commands();
  if (std::find(names.begin(), names.end(), given) != names.end()) return {};
  const std::string nearest = cli::nearest_word(given, names);
  std::string text = given.empty() ? std::string("a command is needed")
                                   : fmt::format("there is no command '{}'", given);
  if (!nearest.empty()) text += fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("{}\ncommands: {}\n`unstarve --help` says what they do", text,
                     fmt::join(names, ", "));
}

/// How many arguments are for the parser. Those of `emulate` end at `--`, where the job begins:
/// the parser would take the job's first word for the GPU where none is named.
int take_job(int argc, char** argv, unstarve::cli::CommandContext& context) {
  if (argc < 2 || argv[1] != std::string_view("emulate")) return argc;
  char** const dashes = std::find(argv, argv + argc, std::string_view("--"));
  if (dashes == argv + argc) return argc;
  context.job.assign(dashes + 1, argv + argc);
  return static_cast<int>(dashes - argv);
}

/// Who reads what we write may go away, as `| head` does. By default that kills us, and the job of
/// `run` would go on without a watcher. Programs that we start have the default back: a handler is
/// no inheritance, while an ignored signal is.
void outlive_readers() {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  if (before.sa_handler == SIG_DFL) ::signal(SIGPIPE, [](int) {});
}

int act(int argc, char** argv) {
  using namespace unstarve;
  cli::CommandContext context;
  std::error_code no_proc;
  context.executable = std::filesystem::read_symlink("/proc/self/exe", no_proc).string();

  cli::CommandLine line(kDescription, "unstarve", UNSTARVE_VERSION);
  cli::add_demo_command(line, context);
  cli::add_run_command(line, context);
  cli::add_attach_command(line, context);
  cli::add_emulate_command(line, context);
  cli::add_rehearse_command(line, context);
  cli::add_tune_command(line, context);
  cli::add_diagnose_command(line, context);
  cli::add_compare_command(line, context);
  cli::add_gate_command(line, context);
  cli::add_report_command(line, context);
  cli::add_export_command(line, context);
  cli::add_runs_command(line, context);
  cli::add_query_command(line, context);
  cli::add_top_command(line, context);
  cli::add_serve_command(line, context);
  cli::add_bench_command(line, context);
  cli::add_roofline_command(line, context);
  cli::add_pack_command(line, context);
  cli::add_unpack_command(line, context);
  cli::add_doctor_command(line, context);
  cli::add_completion_command(line, context);
  cli::add_manual_command(line, context);
  cli::add_version_command(line, context);
  if (const std::string wrong = wrong_command(line, argc, argv); !wrong.empty()) {
    cli::say(wrong);
    return cli::kUsage;
  }
  if (!line.parse(take_job(argc, argv, context), argv)) return cli::kUsage;
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  outlive_readers();
  try {
    return act(argc, argv);
  } catch (const std::exception& error) {
    unstarve::cli::say(fmt::format("a fault of unstarve's own: {}", error.what()));
    return unstarve::cli::kFailed;
  }
}
