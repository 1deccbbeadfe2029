#include "emulated/cusparse/sparse.h"

// Sorting entries and changing how they are listed: bound by moving their indices.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusparse;

namespace {

constexpr double kSortPasses = 8;  // over the keys, four bits at a time

Status move_indices(Handle* handle, const char* name, double count, double passes) {
  Cost cost;
  cost.type = NumberType::kI32;
  cost.flops = count * passes;
  cost.bytes = 4 * count * passes;
  return submit_cost(handle, name, cost);
}

}  // namespace

extern "C" {

Status cusparseXcoo2csr(Handle* handle, const int*, int entries, int rows, int*, Choice) {
  return move_indices(handle, "emulated cusparseXcoo2csr", static_cast<double>(entries) + rows, 1);
}

Status cusparseCreateIdentityPermutation(Handle* handle, int count, int*) {
  return move_indices(handle, "emulated cusparseCreateIdentityPermutation", count, 1);
}

Status cusparseXcoosort_bufferSizeExt(Handle*, int, int, int, const int*, const int*,
                                      std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseXcoosortByRow(Handle* handle, int, int, int entries, int*, int*, int*, void*) {
  return move_indices(handle, "emulated cusparseXcoosortByRow", entries, 3 * kSortPasses);
}

Status cusparseXcsrsort_bufferSizeExt(Handle*, int, int, int, const int*, const int*,
                                      std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseXcsrsort(Handle* handle, int, int, int entries, const Parameters*, const int*, int*,
                        int*, void*) {
  return move_indices(handle, "emulated cusparseXcsrsort", entries, 2 * kSortPasses);
}

}  // extern "C"
