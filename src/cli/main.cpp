#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/command.h"
#include "cli/commands/commands.h"

namespace {

constexpr const char* kDescription =
    "Finds out why a GPU starves during training or inference, predicts what each fix would gain,\n"
    "applies it and proves it. Start with `unstarve demo`, or `unstarve run -- python train.py`.";

}  // namespace

int main(int argc, char** argv) {
  using namespace unstarve;
  const std::unique_ptr<LogSink> log = make_stderr_log(LogLevel::kWarning);
  cli::CommandContext context;
  context.log = log.get();
  std::error_code no_proc;
  context.executable = std::filesystem::read_symlink("/proc/self/exe", no_proc).string();

  CLI::App app(kDescription, "unstarve");
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  cli::add_demo_command(app, context);
  cli::add_run_command(app, context);
  cli::add_diagnose_command(app, context);
  cli::add_report_command(app, context);
  cli::add_bench_command(app, context);
  cli::add_pack_command(app, context);
  cli::add_unpack_command(app, context);
  cli::add_doctor_command(app, context);
  cli::add_version_command(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help leaves through here too, with exit code 0.
    const int code = app.exit(error);
    return code == 0 ? cli::kSuccess : cli::kUsage;
  }
  return context.exit_code;
}
