#include "emulated/cusolver/solver.h"

// Handles, and the parameters of calls, which change nothing that an emulated one costs.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusolver;

namespace {

Status create(Parameters** out) {
  if (out == nullptr) return Status::kInvalidValue;
  *out = new (std::nothrow) Parameters;
  return *out == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

Status destroy(Parameters* parameters) {
  delete parameters;
  return Status::kSuccess;
}

Status accept(const Parameters* parameters) {
  return parameters == nullptr ? Status::kInvalidValue : Status::kSuccess;
}

}  // namespace

extern "C" {

Status cusolverDnCreate(Handle** handle) {
  if (handle == nullptr) return Status::kInvalidValue;
  Target target;
  if (current_target(&target) != Outcome::kSuccess) return Status::kNotInitialized;
  *handle = new (std::nothrow) Handle{target};
  return *handle == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

Status cusolverDnDestroy(Handle* handle) {
  if (handle == nullptr) return Status::kNotInitialized;
  delete handle;
  return Status::kSuccess;
}

Status cusolverDnSetStream(Handle* handle, const void* stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  handle->target.stream = stream;
  return Status::kSuccess;
}

Status cusolverDnGetStream(Handle* handle, const void** stream) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (stream == nullptr) return Status::kInvalidValue;
  *stream = handle->target.stream;
  return Status::kSuccess;
}

Status cusolverDnSetDeterministicMode(Handle* handle, std::int32_t) {
  return handle == nullptr ? Status::kNotInitialized : Status::kSuccess;
}

Status cusolverDnCreateParams(Parameters** out) { return create(out); }
Status cusolverDnDestroyParams(Parameters* parameters) { return destroy(parameters); }
Status cusolverDnCreateGesvdjInfo(Parameters** out) { return create(out); }
Status cusolverDnDestroyGesvdjInfo(Parameters* parameters) { return destroy(parameters); }
Status cusolverDnCreateSyevjInfo(Parameters** out) { return create(out); }
Status cusolverDnDestroySyevjInfo(Parameters* parameters) { return destroy(parameters); }
Status cusolverDnXgesvdjSetMaxSweeps(Parameters* parameters, int) { return accept(parameters); }
Status cusolverDnXgesvdjSetSortEig(Parameters* parameters, int) { return accept(parameters); }
Status cusolverDnXgesvdjSetTolerance(Parameters* parameters, double) { return accept(parameters); }
Status cusolverDnXsyevjSetSortEig(Parameters* parameters, int) { return accept(parameters); }
Status cusolverDnXsyevjSetMaxSweeps(Parameters* parameters, int) { return accept(parameters); }
Status cusolverDnXsyevjSetTolerance(Parameters* parameters, double) { return accept(parameters); }

}  // extern "C"
