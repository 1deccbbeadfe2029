#include "emulated/runtime/runtime_call.h"

#include "emulated/abi/error_text.h"

namespace unstarve::emulated {
namespace {

thread_local Outcome last_failed = Outcome::kSuccess;

}  // namespace

Outcome remember(Outcome outcome) {
  if (outcome != Outcome::kSuccess) last_failed = outcome;
  return outcome;
}

Outcome last_error() { return last_failed; }

Outcome take_last_error() {
  const Outcome outcome = last_failed;
  last_failed = Outcome::kSuccess;
  return outcome;
}

UNSTARVE_CUDART cudaGetLastError() { return take_last_error(); }

UNSTARVE_CUDART cudaPeekAtLastError() { return last_error(); }

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorName(int error) {
  const char* const name = cuda::runtime_error_name(error);
  return name != nullptr ? name : "unrecognized error code";
}

extern "C" __attribute__((visibility("default"))) const char* cudaGetErrorString(int error) {
  const char* const text = cuda::error_text(error);
  return text != nullptr ? text : "unrecognized error code";
}

}  // namespace unstarve::emulated
