#include <exception>

#include "emulated/cufft/plan.h"

// Fourier transforms: plans, and running them.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cufft;

namespace {

Result result_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess: return Result::kSuccess;
    case Outcome::kOutOfMemory: return Result::kAllocFailed;
    case Outcome::kNotInitialized:
    case Outcome::kNoDevice: return Result::kSetupFailed;
    default: return Result::kExecFailed;
  }
}

struct Types {
  DataType input;
  DataType output;
};

bool types_of(TransformType type, Types* types) {
  switch (type) {
    case TransformType::kComplexToComplex: *types = {DataType::kC32F, DataType::kC32F}; return true;
    case TransformType::kRealToComplex: *types = {DataType::kR32F, DataType::kC32F}; return true;
    case TransformType::kComplexToReal: *types = {DataType::kC32F, DataType::kR32F}; return true;
    case TransformType::kDoubleComplexToDoubleComplex:
      *types = {DataType::kC64F, DataType::kC64F};
      return true;
    case TransformType::kDoubleToDoubleComplex:
      *types = {DataType::kR64F, DataType::kC64F};
      return true;
    case TransformType::kDoubleComplexToDouble:
      *types = {DataType::kC64F, DataType::kR64F};
      return true;
  }
  return false;
}

template <class Size>
bool take_sizes(int dimensions, const Size* sizes, Shape* shape) {
  if (dimensions < 1 || dimensions > 3 || sizes == nullptr) return false;
  shape->dimensions = dimensions;
  for (int i = 0; i < dimensions; ++i) shape->sizes[i] = sizes[i];
  return true;
}

Result make(PlanHandle handle, const Shape& shape, std::size_t* workspace_bytes) {
  Plan plan;
  if (!Plans::instance().find(handle, &plan)) return Result::kInvalidPlan;
  if (!shape.valid()) return Result::kInvalidSize;
  const Target target = plan.target;
  plan = make_plan(shape);
  plan.target = target;
  if (workspace_bytes != nullptr) *workspace_bytes = plan.workspace_bytes;
  return Plans::instance().replace(handle, plan) ? Result::kSuccess : Result::kInvalidPlan;
}

template <class Size>
Result make_typed(PlanHandle handle, int dimensions, const Size* sizes, TransformType type,
                  long long batch, std::size_t* workspace_bytes) {
  Shape shape;
  Types types = {};
  if (!types_of(type, &types)) return Result::kInvalidType;
  if (!take_sizes(dimensions, sizes, &shape)) return Result::kInvalidSize;
  shape.batch = batch;
  shape.input = types.input;
  shape.output = types.output;
  return make(handle, shape, workspace_bytes);
}

Result create(PlanHandle* handle) {
  if (handle == nullptr) return Result::kInvalidValue;
  Plan plan;
  if (current_target(&plan.target) != Outcome::kSuccess) return Result::kSetupFailed;
  try {
    *handle = Plans::instance().add(plan);
  } catch (const std::exception&) {
    return Result::kAllocFailed;
  }
  return Result::kSuccess;
}

Result plan_of(PlanHandle* handle, int dimensions, const int* sizes, TransformType type,
               int batch) {
  if (const Result result = create(handle); result != Result::kSuccess) return result;
  return make_typed(*handle, dimensions, sizes, type, batch, nullptr);
}

Result execute(PlanHandle handle, const char* name) {
  Plan plan;
  if (!Plans::instance().find(handle, &plan) || !plan.made) return Result::kInvalidPlan;
  return result_of(submit_split(plan.target, name, plan.work));
}

}  // namespace

#define UNSTARVE_EXECUTE(kind)                                               \
  Result cufftExec##kind(PlanHandle handle, const void*, const void*, int) { \
    return execute(handle, "emulated cufftExec" #kind);                      \
  }
#define UNSTARVE_EXECUTE_ONE_WAY(kind)                                  \
  Result cufftExec##kind(PlanHandle handle, const void*, const void*) { \
    return execute(handle, "emulated cufftExec" #kind);                 \
  }

extern "C" {

Result cufftCreate(PlanHandle* handle) { return create(handle); }

Result cufftDestroy(PlanHandle handle) {
  return Plans::instance().remove(handle) ? Result::kSuccess : Result::kInvalidPlan;
}

Result cufftSetStream(PlanHandle handle, const void* stream) {
  Plan plan;
  if (!Plans::instance().find(handle, &plan)) return Result::kInvalidPlan;
  plan.target.stream = stream;
  return Plans::instance().replace(handle, plan) ? Result::kSuccess : Result::kInvalidPlan;
}

Result cufftSetAutoAllocation(PlanHandle, int) { return Result::kSuccess; }

Result cufftSetWorkArea(PlanHandle, void*) { return Result::kSuccess; }

Result cufftGetSize(PlanHandle handle, std::size_t* bytes) {
  Plan plan;
  if (!Plans::instance().find(handle, &plan)) return Result::kInvalidPlan;
  if (bytes == nullptr) return Result::kInvalidValue;
  *bytes = plan.workspace_bytes;
  return Result::kSuccess;
}

Result cufftPlan1d(PlanHandle* handle, int n, TransformType type, int batch) {
  return plan_of(handle, 1, &n, type, batch);
}

Result cufftPlan2d(PlanHandle* handle, int rows, int columns, TransformType type) {
  const int sizes[] = {rows, columns};
  return plan_of(handle, 2, sizes, type, 1);
}

Result cufftPlan3d(PlanHandle* handle, int x, int y, int z, TransformType type) {
  const int sizes[] = {x, y, z};
  return plan_of(handle, 3, sizes, type, 1);
}

Result cufftPlanMany(PlanHandle* handle, int dimensions, int* sizes, int*, int, int, int*, int, int,
                     TransformType type, int batch) {
  return plan_of(handle, dimensions, sizes, type, batch);
}

Result cufftMakePlan1d(PlanHandle handle, int n, TransformType type, int batch,
                       std::size_t* bytes) {
  return make_typed(handle, 1, &n, type, batch, bytes);
}

Result cufftMakePlan2d(PlanHandle handle, int rows, int columns, TransformType type,
                       std::size_t* bytes) {
  const int sizes[] = {rows, columns};
  return make_typed(handle, 2, sizes, type, 1, bytes);
}

Result cufftMakePlan3d(PlanHandle handle, int x, int y, int z, TransformType type,
                       std::size_t* bytes) {
  const int sizes[] = {x, y, z};
  return make_typed(handle, 3, sizes, type, 1, bytes);
}

Result cufftMakePlanMany(PlanHandle handle, int dimensions, int* sizes, int*, int, int, int*, int,
                         int, TransformType type, int batch, std::size_t* bytes) {
  return make_typed(handle, dimensions, sizes, type, batch, bytes);
}

Result cufftMakePlanMany64(PlanHandle handle, int dimensions, long long* sizes, long long*,
                           long long, long long, long long*, long long, long long,
                           TransformType type, long long batch, std::size_t* bytes) {
  return make_typed(handle, dimensions, sizes, type, batch, bytes);
}

Result cufftXtMakePlanMany(PlanHandle handle, int dimensions, long long* sizes, long long*,
                           long long, long long, DataType input, long long*, long long, long long,
                           DataType output, long long batch, std::size_t* bytes, DataType) {
  Shape shape;
  if (!take_sizes(dimensions, sizes, &shape)) return Result::kInvalidSize;
  shape.batch = batch;
  shape.input = input;
  shape.output = output;
  return make(handle, shape, bytes);
}

UNSTARVE_EXECUTE(C2C)
UNSTARVE_EXECUTE(Z2Z)
UNSTARVE_EXECUTE_ONE_WAY(R2C)
UNSTARVE_EXECUTE_ONE_WAY(C2R)
UNSTARVE_EXECUTE_ONE_WAY(D2Z)
UNSTARVE_EXECUTE_ONE_WAY(Z2D)

Result cufftXtExec(PlanHandle handle, void*, void*, int) {
  return execute(handle, "emulated cufftXtExec");
}

Result cufftGetVersion(int* version) {
  if (version == nullptr) return Result::kInvalidValue;
  *version = kVersion;
  return Result::kSuccess;
}

Result cufftGetProperty(LibraryProperty property, int* value) {
  const auto index = static_cast<unsigned>(property);
  if (index > 2 || value == nullptr) return Result::kInvalidValue;
  *value = kVersionParts[index];
  return Result::kSuccess;
}

}  // extern "C"
