#pragma once

#include "cli/options/command.h"
#include "cli/options/command_line.h"

namespace unstarve::cli {

// Each adds one command to `line`; its work is done while the line is parsed, its result is left in
// `context.exit_code`. One file per command.

void add_demo_command(CommandLine& line, CommandContext& context);
void add_run_command(CommandLine& line, CommandContext& context);
void add_attach_command(CommandLine& line, CommandContext& context);
void add_emulate_command(CommandLine& line, CommandContext& context);
void add_rehearse_command(CommandLine& line, CommandContext& context);
void add_tune_command(CommandLine& line, CommandContext& context);
void add_diagnose_command(CommandLine& line, CommandContext& context);
void add_compare_command(CommandLine& line, CommandContext& context);
void add_gate_command(CommandLine& line, CommandContext& context);
void add_report_command(CommandLine& line, CommandContext& context);
void add_export_command(CommandLine& line, CommandContext& context);
void add_runs_command(CommandLine& line, CommandContext& context);
void add_query_command(CommandLine& line, CommandContext& context);
void add_top_command(CommandLine& line, CommandContext& context);
void add_serve_command(CommandLine& line, CommandContext& context);
void add_bench_command(CommandLine& line, CommandContext& context);
void add_roofline_command(CommandLine& line, CommandContext& context);
void add_pack_command(CommandLine& line, CommandContext& context);
void add_unpack_command(CommandLine& line, CommandContext& context);
void add_doctor_command(CommandLine& line, CommandContext& context);
void add_completion_command(CommandLine& line, CommandContext& context);
void add_manual_command(CommandLine& line, CommandContext& context);
void add_version_command(CommandLine& line, CommandContext& context);

}  // namespace unstarve::cli
