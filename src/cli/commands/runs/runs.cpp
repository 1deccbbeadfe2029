#include "cli/commands/commands.h"
#include "cli/commands/runs/runs_commands.h"

namespace unstarve::cli {

void add_runs_command(CommandLine& line, CommandContext& context) {
  Command command = line.add_command(
      "runs",
      "list the runs of a folder (alone: list); show, tag, note, remove them; a cluster's jobs");
  add_runs_list(command, context);
  add_runs_show(command, context);
  add_runs_tag(command, context);
  add_runs_note(command, context);
  add_runs_rm(command, context);
  add_runs_prune(command, context);
  add_runs_sacct(command, context);
}

}  // namespace unstarve::cli
