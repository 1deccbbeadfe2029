#pragma once

#include "cli/options/command.h"
#include "cli/options/command_line.h"

namespace unstarve::cli {

// The commands of `unstarve runs`; each as in commands.h.

inline constexpr const char* kRunsFolder = "runs";  // where `unstarve run` puts them
inline constexpr const char* kRunHelp = "a run's folder, its name in runs/, or `last`";

/// Also acts where `unstarve runs` stands alone.
void add_runs_list(Command& runs, CommandContext& context);
void add_runs_show(Command& runs, CommandContext& context);
void add_runs_tag(Command& runs, CommandContext& context);
void add_runs_note(Command& runs, CommandContext& context);
void add_runs_rm(Command& runs, CommandContext& context);
void add_runs_prune(Command& runs, CommandContext& context);
void add_runs_sacct(Command& runs, CommandContext& context);

}  // namespace unstarve::cli
