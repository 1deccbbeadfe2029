#include "diagnose/partition/cause.h"

namespace unstarve::diagnose {

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::kGpuCompute: return "gpu_compute";
    case Cause::kExposedCommunication: return "exposed_communication";
    case Cause::kExposedCopy: return "exposed_copy";
    case Cause::kInputWait: return "input_wait";
    case Cause::kSync: return "sync";
    case Cause::kLaunch: return "launch";
    case Cause::kKernelWait: return "kernel_wait";
    case Cause::kOther: return "other";
  }
  return "other";
}

}  // namespace unstarve::diagnose
