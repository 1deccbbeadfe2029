#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emulated/collective/integer_kernels.h"
#include "emulated/process/process_gpu.h"

namespace unstarve::emulated {

std::shared_ptr<Landing> ProcessGpu::integers_of(const Stream* stream, const KernelWork& work) {
  ProcessMemory& memory = machine_.memory;
  const auto pointer = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  const auto is_here = [&](std::uintptr_t address) {
    const Allocation found = memory.find(pointer(address));
    return found.gpu == index_ && found.place == MemoryPlace::kDevice;
  };
  const std::optional<IntegerKernel> kernel = read_integer_kernel(work, is_here);
  std::vector<std::vector<KeptPiece>> inputs;
  const auto all_known = [&] {
    for (const DeviceRange& range : kernel->inputs) {
      inputs.push_back(memory.kept_pieces(pointer(range.address), range.bytes));
      std::size_t known = 0;
      for (const KeptPiece& piece : inputs.back()) known += piece.bytes;
      if (known < range.bytes) return false;
    }
    return true;
  };
  if (!kernel || !is_here(kernel->output.address) || capture_of(stream).active || !all_known()) {
    memory.forget_at(index_, written_by(work));
    return nullptr;
  }
  auto result = std::make_shared<std::vector<unsigned char>>(kernel->output.bytes);
  memory.write_kept(pointer(kernel->output.address), result);
  return make_landing(*kernel, std::move(inputs), std::move(result));
}

}  // namespace unstarve::emulated
