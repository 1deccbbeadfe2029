#include "feed/batch/slot_memory.h"

#include <cstdlib>

namespace unstarve::feed {

void* PageableMemory::allocate(std::size_t bytes) noexcept {
  return std::aligned_alloc(kSlotAlignment, align_in_slot(bytes));
}

void PageableMemory::release(void* memory) noexcept { std::free(memory); }

}  // namespace unstarve::feed
