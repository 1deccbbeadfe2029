#pragma once

#include "cli/command.h"

namespace unstarve::cli {

// Each adds one subcommand to `app`; its work is done inside CLI11's callback and its result is
// left in `context.exit_code`. One file per command.

void add_demo_command(CLI::App& app, CommandContext& context);
void add_run_command(CLI::App& app, CommandContext& context);
void add_emulate_command(CLI::App& app, CommandContext& context);
void add_rehearse_command(CLI::App& app, CommandContext& context);
void add_diagnose_command(CLI::App& app, CommandContext& context);
void add_report_command(CLI::App& app, CommandContext& context);
void add_bench_command(CLI::App& app, CommandContext& context);
void add_pack_command(CLI::App& app, CommandContext& context);
void add_unpack_command(CLI::App& app, CommandContext& context);
void add_doctor_command(CLI::App& app, CommandContext& context);
void add_version_command(CLI::App& app, CommandContext& context);

}  // namespace unstarve::cli
