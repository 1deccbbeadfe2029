#include "emulated/cufft/plan.h"

#include <cmath>

namespace unstarve::emulated::cufft {
namespace {

constexpr long long kNumbersOfOneKernel = 4096;

bool is_real(DataType type) { return !is_complex(number_type(type)); }

NumberType real_type(DataType type) {
  const bool wide = type == DataType::kC64F || type == DataType::kR64F;
  return wide ? NumberType::kF64 : NumberType::kF32;
}

}  // namespace

bool Shape::valid() const {
  if (dimensions < 1 || dimensions > 3 || batch < 1) return false;
  for (int i = 0; i < dimensions; ++i) {
    if (sizes[i] < 1) return false;
  }
  return true;
}

Plan make_plan(const Shape& shape) {
  Plan plan;
  double numbers = 1;
  int kernels = 0;
  for (int i = 0; i < shape.dimensions; ++i) {
    numbers *= static_cast<double>(shape.sizes[i]);
    kernels += shape.sizes[i] > kNumbersOfOneKernel ? 2 : 1;
  }
  const bool real = is_real(shape.input) || is_real(shape.output);
  const double half = real ? 0.5 : 1;
  const double all = numbers * static_cast<double>(shape.batch);
  const NumberType type = real_type(shape.input);
  plan.made = true;
  plan.work.type = type;
  plan.work.flops = 5 * half * all * std::log2(numbers + 1);
  plan.work.bytes = kernels * 2 * half * all * 2 * bytes_of(type);
  plan.work.kernels = kernels;
  if (kernels > 1) plan.workspace_bytes = static_cast<std::size_t>(half * all * 2 * bytes_of(type));
  return plan;
}

Plans& Plans::instance() {
  static Plans* const plans = new Plans;
  return *plans;
}

PlanHandle Plans::add(const Plan& plan) {
  const MutexLock lock(mutex_);
  plans_[next_] = plan;
  return next_++;
}

bool Plans::remove(PlanHandle handle) {
  const MutexLock lock(mutex_);
  return plans_.erase(handle) > 0;
}

bool Plans::find(PlanHandle handle, Plan* plan) {
  const MutexLock lock(mutex_);
  const auto found = plans_.find(handle);
  if (found == plans_.end()) return false;
  *plan = found->second;
  return true;
}

bool Plans::replace(PlanHandle handle, const Plan& plan) {
  const MutexLock lock(mutex_);
  const auto found = plans_.find(handle);
  if (found == plans_.end()) return false;
  found->second = plan;
  return true;
}

}  // namespace unstarve::emulated::cufft
