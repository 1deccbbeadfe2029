#pragma once

#include <cstdint>
#include <string_view>

namespace unstarve::job {

/// What a kernel's name tells of it, as NVIDIA's and AMD's libraries, PyTorch and Triton name
/// theirs.
struct KernelTraits {
  enum class Work : std::uint8_t {
    kOther,    // the name does not tell
    kProduct,  // matrix products, convolutions, attention
    kMemory,   // elementwise, norms, reductions, copies: bound by the memory's bandwidth
  };
  enum class Units : std::uint8_t {
    kUnknown,
    kTensorCores,  // TF32, half, bfloat16, 8 bits
    kFloat,        // 32 bits on the ordinary units
    kDouble,
  };
  Work work = Work::kOther;
  Units units = Units::kUnknown;  // of a product
  /// A product of tensor cores whose rows begin where they cannot be read 16 bytes at a time: its
  /// sizes are no multiple of 8 halves or 4 floats.
  bool misaligned = false;
};

/// Any text is an answer of its own kind: what is not known is kOther.
KernelTraits traits_of(std::string_view kernel_name);

}  // namespace unstarve::job
