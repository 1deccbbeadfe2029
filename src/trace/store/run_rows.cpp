#include "trace/store/run_rows.h"

namespace unstarve::trace {

namespace {

constexpr std::int64_t kLoaderBatch = 2;
constexpr std::int64_t kBackward = 3;
constexpr std::int64_t kModelCall = 4;

constexpr std::int64_t kPinMemory = 1;
constexpr std::int64_t kPersistentWorkers = 2;
constexpr std::int64_t kNative = 4;

}  // namespace

std::string_view to_string(ProcessRole role) {
  switch (role) {
    case ProcessRole::kMain: return "main";
    case ProcessRole::kLoaderWorker: return "loader_worker";
    case ProcessRole::kOther: return "other";
  }
  return "other";
}

ProcessRole parse_process_role(std::string_view text) {
  for (const ProcessRole role : {ProcessRole::kMain, ProcessRole::kLoaderWorker}) {
    if (text == to_string(role)) return role;
  }
  return ProcessRole::kOther;
}

std::int64_t number_of(StepSource source) {
  switch (source) {
    case StepSource::kLoaderBatch: return kLoaderBatch;
    case StepSource::kBackward: return kBackward;
    case StepSource::kModelCall: return kModelCall;
    case StepSource::kOptimizer:
    case StepSource::kRepetition: return 0;  // a repetition is found, and never recorded
  }
  return 0;
}

StepSource step_source(std::int64_t number) {
  switch (number) {
    case kLoaderBatch: return StepSource::kLoaderBatch;
    case kBackward: return StepSource::kBackward;
    case kModelCall: return StepSource::kModelCall;
    default: return StepSource::kOptimizer;
  }
}

std::int64_t number_of(const LoaderFlags& flags) {
  return (flags.pin_memory ? kPinMemory : 0) | (flags.persistent_workers ? kPersistentWorkers : 0) |
         (flags.native ? kNative : 0);
}

LoaderFlags loader_flags(std::int64_t number) {
  return {(number & kPinMemory) != 0, (number & kPersistentWorkers) != 0, (number & kNative) != 0};
}

}  // namespace unstarve::trace
