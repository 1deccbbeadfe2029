#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace unstarve::cli {

/// Exit codes, the same for every command. `run` passes on the job's own instead.
enum ExitCode : int {
  kSuccess = 0,
  kFailed = 1,      // the job or the tool failed
  kUsage = 2,       // wrong usage or unreadable input
  kGateFailed = 3,  // a gate did not hold
  kUndecided = 4,   // a gate could not tell
};

/// What a command gets besides its own options, and where it leaves its exit code.
struct CommandContext {
  int exit_code = kSuccess;
  std::string executable;        // absolute path of this program
  std::vector<std::string> job;  // of `emulate`: what follows `--`
};

/// What a shell says of a program that a signal ended.
inline constexpr int kEndedBySignal = 128;

/// Prints "unstarve: <message>" to stderr and sets the exit code that fits the error:
/// kUsage for input that is wrong or unreadable, kFailed otherwise.
void report_error(CommandContext& context, const Error& error);

/// What a shell answers where a command cannot be started: 127 or 126.
int exit_code_of_start(const Error& error);

}  // namespace unstarve::cli
