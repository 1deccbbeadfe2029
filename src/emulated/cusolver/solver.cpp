#include "emulated/cusolver/solver.h"

#include <algorithm>
#include <cmath>

namespace unstarve::emulated::cusolver {
namespace {

constexpr double kPanel = 64;          // columns that are factorised at a time
constexpr double kKernelsOfPanel = 3;  // factorise, solve, update
constexpr double kMaxKernels = 4096;   // of one call
constexpr double kPanelsOfSmall = 12;  // so small ones of a batch are factorised in one kernel

double size(double value) { return std::max(0.0, value); }

double panels(double n) { return std::max(1.0, std::ceil(n / kPanel)); }

}  // namespace

Cost qr(NumberType type, double m, double n) {
  Cost cost = lu(type, m, n);
  cost.flops *= 2;
  return cost;
}

Cost lu(NumberType type, double m, double n) {
  m = size(m);
  n = size(n);
  const double k = std::min(m, n);
  return {type, 2 * k * (m * n - k * (m + n) / 2 + k * k / 3), 2 * m * n, panels(k)};
}

Cost cholesky(NumberType type, double n) {
  n = size(n);
  return {type, n * n * n / 3, n * n, panels(n)};
}

Cost symmetric_factors(NumberType type, double n) { return cholesky(type, n); }

Cost solve(NumberType type, double n, double sides) {
  n = size(n);
  sides = size(sides);
  return {type, 2 * n * n * sides, n * n + 2 * n * sides, panels(n)};
}

Cost apply_q(NumberType type, double m, double n, double k) {
  m = size(m);
  n = size(n);
  k = size(k);
  return {type, 4 * m * n * k, (m * k) + 2 * m * n, panels(k)};
}

Cost symmetric_eigen(NumberType type, double n, Vectors vectors) {
  n = size(n);
  const double cubed = n * n * n;
  // To three diagonals, half of it matrix times vector, then divide and conquer, then back.
  return {type, vectors == Vectors::kAlso ? 9 * cubed : 4 * cubed / 3, cubed / kPanel + 4 * n * n,
          2 * panels(n)};
}

Cost general_eigen(NumberType type, double n) {
  n = size(n);
  return {type, 25 * n * n * n, n * n * n / kPanel + 6 * n * n, 6 * panels(n)};
}

Cost singular_values(NumberType type, double m, double n, bool vectors) {
  m = size(m);
  n = size(n);
  const double small = std::min(m, n);
  const double large = std::max(m, n);
  const double flops =
      vectors ? 4 * large * small * small + 22 * small * small * small : 4 * large * small * small;
  return {type, flops, large * small * small / kPanel + 4 * m * n, 4 * panels(small)};
}

Cost times(Cost cost, double batch) {
  cost.batch = size(batch);
  return cost;
}

int workspace_numbers(double m, double n) {
  const double numbers = kPanel * (size(m) + size(n)) + 2 * size(n) * size(n);
  return static_cast<int>(std::min(numbers, 2.0e9));
}

Status submit_cost(Handle* handle, const char* name, const Cost& cost) {
  if (handle == nullptr) return Status::kNotInitialized;
  if (cost.batch == 0) return Status::kSuccess;
  OtherWork work;
  work.type = cost.type;
  work.flops = cost.flops * real_operations(cost.type) * cost.batch;
  work.bytes = cost.numbers * bytes_of(cost.type) * cost.batch;
  const bool small_ones = cost.batch > 1 && cost.panels <= kPanelsOfSmall;
  const double kernels = small_ones ? 1 : cost.panels * kKernelsOfPanel;
  work.kernels = static_cast<int>(std::clamp(kernels, 1.0, kMaxKernels));
  return status_as<Status>(submit_split(handle->target, name, work));
}

Status give_workspace(int* numbers, double m, double n) {
  if (numbers == nullptr) return Status::kInvalidValue;
  *numbers = workspace_numbers(m, n);
  return Status::kSuccess;
}

Status give_workspace_bytes(DataType type, double n, std::size_t* device, std::size_t* host) {
  if (device == nullptr || host == nullptr) return Status::kInvalidValue;
  *device = static_cast<std::size_t>(workspace_numbers(n, n)) *
            static_cast<std::size_t>(bytes_of(number_type(type)));
  *host = 0;
  return Status::kSuccess;
}

}  // namespace unstarve::emulated::cusolver
