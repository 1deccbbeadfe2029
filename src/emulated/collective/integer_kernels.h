#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emulated/duration/work.h"
#include "emulated/engine/kept_bytes.h"
#include "emulated/engine/operation.h"

/// What torch computes on the way of an object from rank to rank: how many bytes its pickled form
/// has, the largest and the sum of such numbers, their place in a buffer. Without these numbers no
/// object arrives (torch.distributed.all_gather_object, broadcast_object_list: what Lightning and
/// accelerate begin with). They are 64-bit integers, in a few kernels of torch's own, whose
/// arguments are read as torch's source declares them; nothing of floating point is computed.
namespace unstarve::emulated {

struct DeviceRange {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

/// Such a kernel, with where its numbers lie.
struct IntegerKernel {
  using Bytes = std::vector<unsigned char>;
  std::vector<DeviceRange> inputs;
  DeviceRange output;
  std::function<Bytes(const std::vector<Bytes>&)> compute;
};

/// Nothing: it is none of them, or its arguments are not as expected. `is_on_device` says whether a
/// number can be an address of device memory.
std::optional<IntegerKernel> read_integer_kernel(
    const KernelWork& work, const std::function<bool(std::uintptr_t)>& is_on_device);

/// Where another kernel of torch's may write, as far as its arguments tell: what is known there is
/// known no more. Inputs may be among them.
std::vector<std::uintptr_t> written_by(const KernelWork& work);

/// Computes when the kernel ends, from what is known of each input then, into `result`.
std::shared_ptr<Landing> make_landing(IntegerKernel kernel,
                                      std::vector<std::vector<KeptPiece>> inputs, LateBytes result);

}  // namespace unstarve::emulated
