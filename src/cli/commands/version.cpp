#include <cstdio>

#include "cli/commands/commands.h"

namespace unstarve::cli {

void add_version_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command("version", "print the version");
  command.when_named([&context] {
    std::printf("unstarve %s\n", UNSTARVE_VERSION);
    context.exit_code = kSuccess;
  });
}

}  // namespace unstarve::cli
