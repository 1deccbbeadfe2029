#include "emulated/process/shared_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_handle.h"

namespace unstarve::emulated {

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

std::string path_of(const std::string& folder, int machine_index) {
  return folder + "/gpu-" + std::to_string(machine_index);
}

/// nullptr: it cannot be mapped. A new file is all zeros, which is an unused GPU.
SharedGpu* map_file(const std::string& path, bool write) {
  const FileDescriptor file(
      ::open(path.c_str(), write ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0600));
  if (!file) return nullptr;
  struct stat found {};
  if (write && ::ftruncate(file.get(), sizeof(SharedGpu)) != 0) return nullptr;
  if (::fstat(file.get(), &found) != 0) return nullptr;
  if (found.st_size < static_cast<off_t>(sizeof(SharedGpu))) return nullptr;
  void* memory = ::mmap(nullptr, sizeof(SharedGpu), write ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, file.get(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedGpu*>(memory);
}

}  // namespace

bool is_alive(const GpuUse& use) {
  const std::int32_t pid = use.pid.load(std::memory_order_acquire);
  return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

std::unique_ptr<SharedState> SharedState::open(const std::string& folder, int machine_index) {
  SharedGpu* gpu = folder.empty() ? nullptr : map_file(path_of(folder, machine_index), true);
  std::unique_ptr<SharedGpu> own;
  if (gpu == nullptr) {
    own = std::make_unique<SharedGpu>();
    gpu = own.get();
  } else {
    gpu->magic.store(SharedGpu::kMagic, std::memory_order_release);
  }
  return std::unique_ptr<SharedState>(new SharedState(gpu, std::move(own)));
}

Result<const SharedGpu*> SharedState::look(const std::string& folder, int machine_index) {
  const std::string path = path_of(folder, machine_index);
  const SharedGpu* gpu = map_file(path, false);
  if (gpu == nullptr || gpu->magic.load() != SharedGpu::kMagic) {
    return fail(ErrorCode::kNotFound, "no process has used the GPU of {}", path);
  }
  return gpu;
}

GpuUse& SharedState::use() {
  if (GpuUse* mine = use_.load(std::memory_order_acquire)) return *mine;
  const auto pid = static_cast<std::int32_t>(::getpid());
  GpuUse* taken = &spare_;
  for (GpuUse& slot : gpu_->uses) {
    std::int32_t owner = slot.pid.load();
    // A slot of a dead process, or of an earlier one with our number.
    if (owner != 0 && owner != pid && is_alive(slot)) continue;
    if (!slot.pid.compare_exchange_strong(owner, pid)) continue;
    slot.memory_bytes.store(0);
    slot.busy_until_ns.store(0);
    taken = &slot;
    break;
  }
  use_.store(taken, std::memory_order_release);
  return *taken;
}

std::uint64_t SharedState::memory_of_others() const {
  std::uint64_t sum = 0;
  for (const GpuUse& slot : gpu_->uses) {
    if (&slot == use_.load() || slot.pid.load() == 0 || !is_alive(slot)) continue;
    sum += slot.memory_bytes.load();
  }
  return sum;
}

int SharedState::others_busy(std::int64_t now_ns) const {
  int busy = 0;
  const GpuUse* mine = use_.load();
  for (const GpuUse& slot : gpu_->uses) {
    // Taken in order: behind the first one never used there are no others.
    if (slot.pid.load(std::memory_order_relaxed) == 0 &&
        slot.busy_until_ns.load(std::memory_order_relaxed) == 0) {
      break;
    }
    if (&slot != mine && slot.busy_until_ns.load(std::memory_order_relaxed) > now_ns) ++busy;
  }
  return busy;
}

void SharedState::leave() {
  GpuUse* mine = use_.load();
  if (mine == nullptr) return;
  mine->memory_bytes.store(0);
  mine->busy_until_ns.store(1);  // not 0: others_busy() looks behind it
  use_.store(&spare_);           // what is freed from now on is nobody's concern
  mine->pid.store(0);
}

}  // namespace unstarve::emulated
