#include "cli/command.h"

#include <cstdio>

namespace unstarve::cli {

void report_error(CommandContext& context, const Error& error) {
  std::fprintf(stderr, "unstarve: %s\n", error.message.c_str());
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kNoPermission:
    case ErrorCode::kCorruptData:
    case ErrorCode::kNotSupported: context.exit_code = kUsage; break;
    default: context.exit_code = kFailed; break;
  }
}

}  // namespace unstarve::cli
