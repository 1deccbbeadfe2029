#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands/commands.h"

namespace unstarve::cli {

void add_version_command(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("version", "print the version");
  command->callback([&context] {
    std::printf("unstarve %s\n", UNSTARVE_VERSION);
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
