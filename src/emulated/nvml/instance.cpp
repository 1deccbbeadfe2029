#include "emulated/nvml/instance.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulated/process/settings.h"

namespace unstarve::emulated {

namespace {

constexpr int kSlices = 7;
constexpr int kMemorySlices = 8;
constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kGib = std::int64_t{1} << 30;

/// Eighths of the GPU's memory that go with so many of its seven slices; 0: there is no such kind.
int memory_slices(int slices) {
  switch (slices) {
    case 1: return 1;
    case 2: return 2;
    case 3:
    case 4: return 4;
    case kSlices: return kMemorySlices;
    default: return 0;
  }
}

}  // namespace

std::string NvmlInstance::uuid() const {
  constexpr int kNumbersOfGpus = 1 << 16;
  const std::string text = uuid_text((index + 1) * kNumbersOfGpus + gpu);
  return "MIG-" + text.substr(4);
}

std::string NvmlInstance::kind() const {
  return fmt::format("MIG {}g.{}gb", slices, (memory_bytes() + kGib / 2) / kGib);
}

std::int64_t NvmlInstance::memory_bytes() const {
  return gpu_memory_bytes / kMemorySlices * memory_slices(slices) / kMib * kMib;
}

std::vector<int> parse_slices(std::string_view text) {
  std::vector<int> slices;
  int compute = 0;
  int memory = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool comma = i % 2 == 1;
    if (comma != (text[i] == ',')) return {};
    if (comma) continue;
    const int number = text[i] - '0';
    if (memory_slices(number) == 0) return {};
    slices.push_back(number);
    compute += number;
    memory += memory_slices(number);
  }
  return compute <= kSlices && memory <= kMemorySlices ? slices : std::vector<int>();
}

}  // namespace unstarve::emulated
