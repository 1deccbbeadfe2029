#include <cstring>

#include "emulated/driver/driver_call.h"

/// Numbers that a stream writes into memory when it gets there. Streams that wait for a number are
/// not supported: nothing on the device would ever write it.
namespace unstarve::emulated {
namespace {

struct Write {
  void* address;
  std::uint64_t value;
  std::size_t bytes;
};

void carry_out(void* packed) {
  const std::unique_ptr<Write> write(static_cast<Write*>(packed));
  const MemoryPlace place = find_allocation(write->address).place;
  if (place == MemoryPlace::kDevice) {
    write_kept(write->address, &write->value, write->bytes);
  } else if (place != MemoryPlace::kUnregistered) {
    std::memcpy(write->address, &write->value, write->bytes);
  }
}

Outcome write_value(void* stream, cuda::DevicePointer pointer, std::uint64_t value,
                    std::size_t bytes) {
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    void* const address = address_of(pointer);
    const bool known = find_allocation(address).place != MemoryPlace::kUnregistered;
    if (!known || pointer % bytes != 0) return Outcome::kInvalidValue;
    auto write = std::make_unique<Write>(Write{address, value, bytes});
    const Outcome outcome = gpu.launch_host_function(found, carry_out, write.get());
    if (outcome == Outcome::kSuccess) static_cast<void>(write.release());
    return outcome;
  });
}

}  // namespace

UNSTARVE_CUDA cuStreamWriteValue32_v2(void* stream, cuda::DevicePointer pointer,
                                      std::uint32_t value, unsigned) {
  return write_value(stream, pointer, value, sizeof value);
}

UNSTARVE_CUDA cuStreamWriteValue64_v2(void* stream, cuda::DevicePointer pointer,
                                      std::uint64_t value, unsigned) {
  return write_value(stream, pointer, value, sizeof value);
}

}  // namespace unstarve::emulated
