#include <new>

#include "emulated/cublaslt/attribute.h"

// Descriptors: what a product of matrices is to be like. Attributes that change no duration are
// accepted and forgotten, a bias say.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cublaslt;

namespace {

template <class Descriptor>
Status create(Descriptor** out, const Descriptor& value) {
  if (out == nullptr) return Status::kInvalidValue;
  *out = new (std::nothrow) Descriptor(value);
  return *out == nullptr ? Status::kAllocFailed : Status::kSuccess;
}

template <class Descriptor>
Status destroy(Descriptor* descriptor) {
  delete descriptor;
  return Status::kSuccess;
}

/// Makes a descriptor in room of the program's.
template <class Descriptor>
Status place(void* room, std::size_t size, const Descriptor& value) {
  if (room == nullptr || size < sizeof(Descriptor)) return Status::kInvalidValue;
  new (room) Descriptor(value);
  return Status::kSuccess;
}

/// Calls `use` with the member that an attribute names; kNotSupported: it is none of those kept.
template <class Description, class Use>
Status with_member(Description& matmul, MatmulAttribute attribute, Use use) {
  switch (attribute) {
    case MatmulAttribute::kComputeType: return use(matmul.compute);
    case MatmulAttribute::kScaleType: return use(matmul.scale);
    case MatmulAttribute::kPointerMode: return use(matmul.pointers);
    case MatmulAttribute::kTransposeA: return use(matmul.a);
    case MatmulAttribute::kTransposeB: return use(matmul.b);
    case MatmulAttribute::kTransposeC: return use(matmul.c);
    case MatmulAttribute::kFillMode: return use(matmul.fill);
    case MatmulAttribute::kEpilogue: return use(matmul.epilogue);
    default: return Status::kNotSupported;
  }
}

template <class AnyLayout, class Use>
Status with_member(AnyLayout& layout, LayoutAttribute attribute, Use use) {
  switch (attribute) {
    case LayoutAttribute::kType: return use(layout.type);
    case LayoutAttribute::kOrder: return use(layout.order);
    case LayoutAttribute::kRows: return use(layout.rows);
    case LayoutAttribute::kColumns: return use(layout.columns);
    case LayoutAttribute::kLeadingDimension: return use(layout.leading_dimension);
    case LayoutAttribute::kBatchCount: return use(layout.batch);
    case LayoutAttribute::kBatchStride: return use(layout.batch_stride);
    default: return Status::kNotSupported;
  }
}

template <class Attribute>
bool known(Attribute attribute) {
  return static_cast<int>(attribute) >= 0 && attribute <= Attribute::kLast;
}

template <class Descriptor, class Attribute>
Status set(Descriptor* descriptor, Attribute attribute, const void* bytes, std::size_t size) {
  if (descriptor == nullptr || bytes == nullptr || !known(attribute)) return Status::kInvalidValue;
  const Status status =
      with_member(*descriptor, attribute, [&](auto& member) { return take(&member, bytes, size); });
  return status == Status::kNotSupported ? Status::kSuccess : status;
}

struct Room {
  void* bytes;
  std::size_t size;
  std::size_t* written;
};

template <class Descriptor, class Attribute>
Status get(const Descriptor* descriptor, Attribute attribute, const Room& room) {
  if (descriptor == nullptr || !known(attribute)) return Status::kInvalidValue;
  return with_member(*descriptor, attribute, [&](const auto& member) {
    return give(member, room.bytes, room.size, room.written);
  });
}

}  // namespace

extern "C" {

Status cublasLtMatrixLayoutCreate(Layout** layout, DataType type, std::uint64_t rows,
                                  std::uint64_t columns, std::int64_t leading_dimension) {
  return create(layout, Layout{type, 0, rows, columns, leading_dimension});
}

Status cublasLtMatrixLayoutInit_internal(void* layout, std::size_t size, DataType type,
                                         std::uint64_t rows, std::uint64_t columns,
                                         std::int64_t leading_dimension) {
  return place(layout, size, Layout{type, 0, rows, columns, leading_dimension});
}

Status cublasLtMatrixLayoutDestroy(Layout* layout) { return destroy(layout); }

Status cublasLtMatrixLayoutSetAttribute(Layout* layout, LayoutAttribute attribute,
                                        const void* bytes, std::size_t size) {
  return set(layout, attribute, bytes, size);
}

Status cublasLtMatrixLayoutGetAttribute(const Layout* layout, LayoutAttribute attribute,
                                        void* bytes, std::size_t size, std::size_t* written) {
  return get(layout, attribute, {bytes, size, written});
}

Status cublasLtMatmulDescCreate(MatmulDescription** matmul, ComputeType compute, DataType scale) {
  return create(matmul, MatmulDescription{compute, scale});
}

Status cublasLtMatmulDescInit_internal(void* matmul, std::size_t size, ComputeType compute,
                                       DataType scale) {
  return place(matmul, size, MatmulDescription{compute, scale});
}

Status cublasLtMatmulDescDestroy(MatmulDescription* matmul) { return destroy(matmul); }

Status cublasLtMatmulDescSetAttribute(MatmulDescription* matmul, MatmulAttribute attribute,
                                      const void* bytes, std::size_t size) {
  return set(matmul, attribute, bytes, size);
}

Status cublasLtMatmulDescGetAttribute(const MatmulDescription* matmul, MatmulAttribute attribute,
                                      void* bytes, std::size_t size, std::size_t* written) {
  return get(matmul, attribute, {bytes, size, written});
}

Status cublasLtMatmulPreferenceCreate(Preference** preference) {
  return create(preference, Preference{});
}

Status cublasLtMatmulPreferenceInit_internal(void* preference, std::size_t size) {
  return place(preference, size, Preference{});
}

Status cublasLtMatmulPreferenceDestroy(Preference* preference) { return destroy(preference); }

Status cublasLtMatmulPreferenceSetAttribute(Preference* preference, PreferenceAttribute attribute,
                                            const void* bytes, std::size_t size) {
  if (preference == nullptr || bytes == nullptr || !known(attribute)) return Status::kInvalidValue;
  if (attribute != PreferenceAttribute::kMaxWorkspaceBytes) return Status::kSuccess;
  return take(&preference->max_workspace_bytes, bytes, size);
}

Status cublasLtMatmulPreferenceGetAttribute(const Preference* preference,
                                            PreferenceAttribute attribute, void* bytes,
                                            std::size_t size, std::size_t* written) {
  if (preference == nullptr || !known(attribute)) return Status::kInvalidValue;
  if (attribute != PreferenceAttribute::kMaxWorkspaceBytes) return Status::kNotSupported;
  return give(preference->max_workspace_bytes, bytes, size, written);
}

Status cublasLtMatrixTransformDescCreate(TransformDescription** transform, DataType scale) {
  return create(transform, TransformDescription{scale});
}

Status cublasLtMatrixTransformDescInit_internal(void* transform, std::size_t size, DataType scale) {
  return place(transform, size, TransformDescription{scale});
}

Status cublasLtMatrixTransformDescDestroy(TransformDescription* transform) {
  return destroy(transform);
}

Status cublasLtMatrixTransformDescSetAttribute(TransformDescription* transform, std::int32_t,
                                               const void* bytes, std::size_t) {
  return transform == nullptr || bytes == nullptr ? Status::kInvalidValue : Status::kSuccess;
}

}  // extern "C"
