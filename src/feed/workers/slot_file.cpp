#include "feed/workers/slot_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "host/host_files.h"
#include "host/procfs.h"

namespace unstarve::feed {
namespace {

// Slots below this are not worth the look at /proc/meminfo.
constexpr std::uint64_t kUncheckedBytes = 16UL * 1024 * 1024;

/// Memory files have no limit of their own: the kernel would go on, killing processes, until it
/// had the last byte. Where it cannot be told what is available, nothing is refused.
bool is_available(std::uint64_t bytes) {
  if (bytes <= kUncheckedBytes) return true;
  const Result<std::string> text = host::HostFiles().read("/proc/meminfo");
  if (!text) return true;
  const Result<host::MemoryInfo> memory = host::parse_memory_info(*text);
  if (!memory) return true;
  const std::int64_t bound = memory->available_bytes.value_or(memory->total_bytes);
  return bytes <= static_cast<std::uint64_t>(bound);
}

}  // namespace

Result<FileDescriptor> create_slot_memory() {
  // glibc has a function for this from 2.27 on; wheels are for 2.17.
  FileDescriptor file(static_cast<int>(
      ::syscall(SYS_memfd_create, "unstarve-slots", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (!file) return fail_errno(errno, "cannot create shared memory for workers");
  // New pages are zero, which makes every slot of the table free and of no capacity.
  if (::ftruncate(file.get(), static_cast<off_t>(kSlotTableBytes)) != 0) {
    return fail_errno(errno, "cannot size the shared memory of workers");
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return fail_errno(errno, "cannot seal the shared memory of workers");
  }
  return file;
}

Status reserve_slot_memory(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (!is_available(bytes)) {
    return fail(ErrorCode::kOutOfMemory,
                "no memory for a batch of {} bytes; lower batch_size or num_workers", bytes);
  }
  if (::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0) {
    return fail_errno(errno, fmt::format("no shared memory for a batch of {} bytes", bytes));
  }
  return {};
}

void release_slot_memory(int fd, std::uint64_t offset, std::uint64_t bytes) {
  // Should this fail, the memory goes back when the last process closes the file.
  (void)::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                    static_cast<off_t>(bytes));
}

SlotMapping::SlotMapping(SlotMapping&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::span<std::byte>())) {}

SlotMapping& SlotMapping::operator=(SlotMapping&& other) noexcept {
  if (this != &other) {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
    bytes_ = std::exchange(other.bytes_, std::span<std::byte>());
  }
  return *this;
}

SlotMapping::~SlotMapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<SlotMapping> SlotMapping::map(int fd, std::uint64_t offset, std::uint64_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                         static_cast<off_t>(offset));
  if (address == MAP_FAILED) return fail_errno(errno, "cannot map the shared memory of workers");
  SlotMapping mapping;
  mapping.bytes_ = {static_cast<std::byte*>(address), bytes};
  return mapping;
}

std::span<SlotEntry, kSlotsMax> slot_table(const SlotMapping& mapping) {
  // Lock-free atomics of all zero bits are valid objects in shared memory.
  auto* first = reinterpret_cast<SlotEntry*>(mapping.bytes().data());
  return std::span<SlotEntry, kSlotsMax>(first, kSlotsMax);
}

}  // namespace unstarve::feed
