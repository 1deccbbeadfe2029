#include "cli/options/command.h"

#include "cli/console/terminal.h"

namespace unstarve::cli {

namespace {

// What a shell answers when a command is not there, or is no program.
constexpr int kShellNotFound = 127;
constexpr int kShellNotExecutable = 126;

}  // namespace

void report_error(CommandContext& context, const Error& error) {
  say(error.message);
  if (error.signal != 0) {
    context.exit_code = kEndedBySignal + error.signal;
    return;
  }
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kNoPermission:
    case ErrorCode::kCorruptData:
    case ErrorCode::kNotSupported: context.exit_code = kUsage; break;
    default: context.exit_code = kFailed; break;
  }
}

int exit_code_of_start(const Error& error) {
  if (error.code == ErrorCode::kNotFound) return kShellNotFound;
  if (error.code == ErrorCode::kNoPermission) return kShellNotExecutable;
  return kFailed;
}

}  // namespace unstarve::cli
