#include <string>
#include <utility>

#include "emulated/nccl/communicator.h"

namespace unstarve::emulated::nccl {
namespace {

std::string& last_error_text() {
  thread_local std::string text;
  return text;
}

}  // namespace

void set_last_error(std::string text) { last_error_text() = std::move(text); }

const char* last_error() { return last_error_text().c_str(); }

Result fail(Result result, std::string text) {
  set_last_error("emulated NCCL: " + std::move(text));
  return result;
}

}  // namespace unstarve::emulated::nccl

using unstarve::emulated::nccl::Result;

#pragma GCC visibility push(default)
extern "C" {

const char* ncclGetErrorString(Result result) {
  switch (result) {
    case Result::kSuccess: return "no error";
    case Result::kUnhandledCudaError: return "a CUDA call failed";
    case Result::kSystemError: return "a call of the operating system failed";
    case Result::kInternalError: return "internal error";
    case Result::kInvalidArgument: return "invalid argument";
    case Result::kInvalidUsage: return "invalid usage";
    case Result::kRemoteError: return "another rank failed or is gone";
    case Result::kInProgress: return "in progress";
  }
  return "unknown result code";
}

const char* ncclGetLastError(void* /*communicator*/) {
  return unstarve::emulated::nccl::last_error();
}

/// 2.27.7: what the functions here are those of.
Result ncclGetVersion(int* version) {
  if (version == nullptr) return Result::kInvalidArgument;
  *version = 22707;
  return Result::kSuccess;
}
}
#pragma GCC visibility pop
