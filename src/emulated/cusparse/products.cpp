#include "emulated/cusparse/sparse.h"

// Products and equations of the generic interface. A product of two sparse matrices has as many
// entries as its zeros: none.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cusparse;

namespace {

Status product(Handle* handle, const char* name, Sparse* a, Dense* b, Dense* c) {
  if (a == nullptr || b == nullptr || c == nullptr) return Status::kInvalidValue;
  const double columns = static_cast<double>(c->columns);
  return submit_cost(
      handle, name,
      {number_type(a->type), 2 * a->stored() * columns, a->bytes() + b->bytes() + 2 * c->bytes()});
}

Status product(Handle* handle, const char* name, Sparse* a, Vector* x, Vector* y) {
  if (a == nullptr || x == nullptr || y == nullptr) return Status::kInvalidValue;
  return submit_cost(
      handle, name,
      {number_type(a->type), 2 * a->stored(), a->bytes() + x->bytes() + 2 * y->bytes()});
}

/// One pass over the entries of two sparse matrices.
Status pass_over(Handle* handle, const char* name, Sparse* a, Sparse* b) {
  if (a == nullptr || b == nullptr) return Status::kInvalidValue;
  return submit_cost(
      handle, name,
      {number_type(a->type), 2 * (a->stored() + b->stored()), a->bytes() + b->bytes()});
}

Status sampled_product(Handle* handle, const char* name, Dense* a, Dense* b, Sparse* c) {
  if (a == nullptr || b == nullptr || c == nullptr) return Status::kInvalidValue;
  const double inner = static_cast<double>(a->columns);
  return submit_cost(
      handle, name,
      {number_type(c->type), 2 * c->stored() * inner, a->bytes() + b->bytes() + 2 * c->bytes()});
}

}  // namespace

extern "C" {

Status cusparseSpMM_bufferSize(Handle*, Operation, Operation, const void*, Sparse*, Dense*,
                               const void*, Dense*, DataType, Choice, std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseSpMM(Handle* handle, Operation, Operation, const void*, Sparse* a, Dense* b,
                    const void*, Dense* c, DataType, Choice, void*) {
  return product(handle, "emulated cusparseSpMM", a, b, c);
}

Status cusparseSpMV_bufferSize(Handle*, Operation, const void*, Sparse*, Vector*, const void*,
                               Vector*, DataType, Choice, std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseSpMV(Handle* handle, Operation, const void*, Sparse* a, Vector* x, const void*,
                    Vector* y, DataType, Choice, void*) {
  return product(handle, "emulated cusparseSpMV", a, x, y);
}

Status cusparseSDDMM_bufferSize(Handle*, Operation, Operation, const void*, Dense*, Dense*,
                                const void*, Sparse*, DataType, Choice, std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseSDDMM_preprocess(Handle*, Operation, Operation, const void*, Dense*, Dense*,
                                const void*, Sparse*, DataType, Choice, void*) {
  return Status::kSuccess;
}

Status cusparseSDDMM(Handle* handle, Operation, Operation, const void*, Dense* a, Dense* b,
                     const void*, Sparse* c, DataType, Choice, void*) {
  return sampled_product(handle, "emulated cusparseSDDMM", a, b, c);
}

Status cusparseSpGEMM_createDescr(Parameters** out) { return create(out); }
Status cusparseSpGEMM_destroyDescr(Parameters* parameters) { return destroy(parameters); }

Status cusparseSpGEMM_workEstimation(Handle* handle, Operation, Operation, const void*, Sparse* a,
                                     Sparse* b, const void*, Sparse*, DataType, Choice, Parameters*,
                                     std::size_t* bytes, void* buffer) {
  if (buffer == nullptr) return give_buffer_size(bytes);
  return pass_over(handle, "emulated cusparseSpGEMM_workEstimation", a, b);
}

Status cusparseSpGEMM_compute(Handle* handle, Operation, Operation, const void*, Sparse* a,
                              Sparse* b, const void*, SparseMatrix* c, DataType, Choice,
                              Parameters*, std::size_t* bytes, void* buffer) {
  if (buffer == nullptr) return give_buffer_size(bytes);
  if (c != nullptr) c->entries = 0;
  return pass_over(handle, "emulated cusparseSpGEMM_compute", a, b);
}

Status cusparseSpGEMM_copy(Handle* handle, Operation, Operation, const void*, Sparse* a, Sparse* b,
                           const void*, Sparse*, DataType, Choice, Parameters*) {
  return pass_over(handle, "emulated cusparseSpGEMM_copy", a, b);
}

Status cusparseSpSV_createDescr(Parameters** out) { return create(out); }
Status cusparseSpSV_destroyDescr(Parameters* parameters) { return destroy(parameters); }

Status cusparseSpSV_bufferSize(Handle*, Operation, const void*, Sparse*, Vector*, Vector*, DataType,
                               Choice, Parameters*, std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseSpSV_analysis(Handle* handle, Operation, const void*, Sparse* a, Vector*, Vector*,
                             DataType, Choice, Parameters*, void*) {
  return pass_over(handle, "emulated cusparseSpSV_analysis", a, a);
}

Status cusparseSpSV_solve(Handle* handle, Operation, const void*, Sparse* a, Vector* x, Vector* y,
                          DataType, Choice, Parameters*) {
  return product(handle, "emulated cusparseSpSV_solve", a, x, y);
}

Status cusparseSpSM_createDescr(Parameters** out) { return create(out); }
Status cusparseSpSM_destroyDescr(Parameters* parameters) { return destroy(parameters); }

Status cusparseSpSM_bufferSize(Handle*, Operation, Operation, const void*, Sparse*, Dense*, Dense*,
                               DataType, Choice, Parameters*, std::size_t* bytes) {
  return give_buffer_size(bytes);
}

Status cusparseSpSM_analysis(Handle* handle, Operation, Operation, const void*, Sparse* a, Dense*,
                             Dense*, DataType, Choice, Parameters*, void*) {
  return pass_over(handle, "emulated cusparseSpSM_analysis", a, a);
}

Status cusparseSpSM_solve(Handle* handle, Operation, Operation, const void*, Sparse* a, Dense* b,
                          Dense* c, DataType, Choice, Parameters*) {
  return product(handle, "emulated cusparseSpSM_solve", a, b, c);
}

}  // extern "C"
