#include "emulated/driver/driver_call.h"

/// What is known of an address.
namespace unstarve::emulated {
namespace {

/// CUpointer_attribute.
enum class PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kSyncMemoryOperations = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kDeviceOrdinal = 9,
  kIsLegacyIpcCapable = 10,
  kRangeStart = 11,
  kRangeBytes = 12,
  kMapped = 13,
  kAllowedHandleTypes = 14,
  kAccessFlags = 16,
  kMemoryPoolHandle = 17,
};

template <class T>
Outcome put(void* out, T value) {
  return answer(static_cast<T*>(out), value);
}

/// Of memory that CUDA knows.
Outcome describe(void* out, PointerAttribute attribute, const Allocation& known,
                 cuda::DevicePointer pointer) {
  const bool on_host = known.place == MemoryPlace::kPinnedHost;
  const int gpu = known.gpu >= 0 ? known.gpu : current_context()->gpu;
  switch (attribute) {
    case PointerAttribute::kContext: return put(out, static_cast<void*>(context_of(gpu)));
    case PointerAttribute::kMemoryType:
      return put(out, on_host ? cuda::DriverMemoryType::kHost : cuda::DriverMemoryType::kDevice);
    case PointerAttribute::kDevicePointer: return put(out, pointer);
    case PointerAttribute::kHostPointer:
      if (known.place == MemoryPlace::kDevice) return Outcome::kInvalidValue;
      return put(out, pointer);
    case PointerAttribute::kSyncMemoryOperations: return put(out, 0U);
    case PointerAttribute::kBufferId: return put(out, static_cast<unsigned long long>(known.id));
    case PointerAttribute::kIsManaged:
      return put(out, known.place == MemoryPlace::kManaged ? 1U : 0U);
    case PointerAttribute::kDeviceOrdinal: return put(out, gpu);
    case PointerAttribute::kIsLegacyIpcCapable:
      return put(out, known.place == MemoryPlace::kDevice ? 1U : 0U);
    case PointerAttribute::kRangeStart:
      return put(out, static_cast<cuda::DevicePointer>(known.base));
    case PointerAttribute::kRangeBytes: return put(out, known.bytes);
    case PointerAttribute::kMapped: return put(out, 1U);
    case PointerAttribute::kAllowedHandleTypes: return put(out, 0ULL);
    case PointerAttribute::kAccessFlags: return put(out, 3);  // read and write
    case PointerAttribute::kMemoryPoolHandle: return put(out, static_cast<void*>(nullptr));
  }
  report_missing("cuda", "cuPointerGetAttribute of that attribute");
  return Outcome::kNotSupported;
}

/// Of any other memory, as cuPointerGetAttributes answers.
void describe_unknown(void* out, PointerAttribute attribute) {
  switch (attribute) {
    case PointerAttribute::kDeviceOrdinal: *static_cast<int*>(out) = -2; break;
    case PointerAttribute::kContext:
    case PointerAttribute::kDevicePointer:
    case PointerAttribute::kHostPointer:
    case PointerAttribute::kBufferId:
    case PointerAttribute::kRangeStart:
    case PointerAttribute::kRangeBytes: *static_cast<std::uint64_t*>(out) = 0; break;
    default: *static_cast<unsigned*>(out) = 0; break;
  }
}

}  // namespace

UNSTARVE_CUDA cuPointerGetAttribute(void* out, int attribute, cuda::DevicePointer pointer) {
  const DriverCall call(Call::kPointerGetAttributes);
  return on_context([&](Gpu&) {
    const Allocation known = find_allocation(address_of(pointer));
    if (out == nullptr || known.place == MemoryPlace::kUnregistered) return Outcome::kInvalidValue;
    return describe(out, PointerAttribute{attribute}, known, pointer);
  });
}

UNSTARVE_CUDA cuPointerGetAttributes(unsigned count, int* attributes, void** out,
                                     cuda::DevicePointer pointer) {
  const DriverCall call(Call::kPointerGetAttributes);
  return on_context([&](Gpu&) {
    if (attributes == nullptr || out == nullptr) return Outcome::kInvalidValue;
    const Allocation known = find_allocation(address_of(pointer));
    for (unsigned i = 0; i < count; ++i) {
      const PointerAttribute attribute{attributes[i]};
      const bool unknown = known.place == MemoryPlace::kUnregistered ||
                           describe(out[i], attribute, known, pointer) != Outcome::kSuccess;
      if (unknown && out[i] != nullptr) describe_unknown(out[i], attribute);
    }
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuPointerSetAttribute(const void*, int attribute, cuda::DevicePointer pointer) {
  return on_context([&](Gpu&) {
    const bool known = find_allocation(address_of(pointer)).place != MemoryPlace::kUnregistered;
    const bool settable = PointerAttribute{attribute} == PointerAttribute::kSyncMemoryOperations;
    return known && settable ? Outcome::kSuccess : Outcome::kInvalidValue;
  });
}

}  // namespace unstarve::emulated
