#include "emulated/context/context.h"

#include <cstdio>
#include <cstring>
#include <vector>

namespace unstarve::emulated {
namespace {

constexpr int kMaxGpus = 64;

std::array<Context, kMaxGpus>& contexts() {
  // Never destroyed: programs use their context while the process ends.
  static auto* const all = [] {
    auto* made = new std::array<Context, kMaxGpus>;
    for (int i = 0; i < kMaxGpus; ++i) (*made)[static_cast<std::size_t>(i)].gpu = i;
    return made;
  }();
  return *all;
}

thread_local Context* thread_context = nullptr;
// The contexts beneath the current one. Leaked with the thread's end on purpose: a vector's
// destructor would run before those of the program's own thread-local objects.
thread_local std::vector<Context*>* pushed = nullptr;

Gpu* activate(Context* context) {
  if (!context->active.load(std::memory_order_relaxed)) context->active.store(true);
  return gpu_at(context->gpu);
}

}  // namespace

Context* context_of(int gpu) {
  if (gpu < 0 || gpu >= gpu_count() || gpu >= kMaxGpus) return nullptr;
  return &contexts()[static_cast<std::size_t>(gpu)];
}

Context* find_context(const void* handle) {
  for (int i = 0; i < gpu_count(); ++i) {
    if (context_of(i) == handle) return context_of(i);
  }
  return nullptr;
}

Context* current_context() { return thread_context; }

Outcome set_current_context(Context* context) {
  thread_context = context;
  return context != nullptr ? set_current_gpu(context->gpu) : Outcome::kSuccess;
}

Outcome push_context(Context* context) {
  if (pushed == nullptr) pushed = new std::vector<Context*>;
  pushed->push_back(thread_context);
  return set_current_context(context);
}

Outcome pop_context(Context** out) {
  if (thread_context == nullptr && (pushed == nullptr || pushed->empty())) {
    return Outcome::kInvalidContext;
  }
  if (out != nullptr) *out = thread_context;
  Context* below = nullptr;
  if (pushed != nullptr && !pushed->empty()) {
    below = pushed->back();
    pushed->pop_back();
  }
  return set_current_context(below);
}

Gpu* runtime_gpu(Outcome* why) {
  *why = usable();
  if (*why != Outcome::kSuccess) return nullptr;
  if (thread_context == nullptr) {
    const Gpu* const gpu = current_gpu();
    if (gpu == nullptr) {
      *why = Outcome::kNoDevice;
      return nullptr;
    }
    thread_context = context_of(gpu->index());
  }
  return activate(thread_context);
}

Gpu* driver_gpu(Outcome* why) {
  *why = usable();
  if (*why != Outcome::kSuccess) return nullptr;
  if (thread_context == nullptr) {
    *why = Outcome::kInvalidContext;
    return nullptr;
  }
  return activate(thread_context);
}

bool set_schedule_flags(Context& context, std::uint32_t flags) {
  WaitRule rule = WaitRule::kAuto;
  switch (flags & cuda::kDeviceScheduleMask) {
    case 0: break;
    case cuda::kDeviceScheduleSpin: rule = WaitRule::kSpin; break;
    case cuda::kDeviceScheduleYield: rule = WaitRule::kYield; break;
    case cuda::kDeviceScheduleBlocking: rule = WaitRule::kBlock; break;
    default: return false;
  }
  context.flags = flags;
  set_wait_rule(rule);
  return true;
}

cuda::Uuid uuid_of(const Gpu& gpu) {
  cuda::Uuid uuid = {};
  std::memcpy(uuid.bytes, "unstarve-emu", 12);
  const auto number = static_cast<std::uint32_t>(gpu.machine_index());
  for (unsigned i = 0; i < 4; ++i) {
    uuid.bytes[12 + i] = static_cast<char>(number >> (24 - 8 * i) & 0xFF);
  }
  return uuid;
}

int pci_bus_of(const Gpu& gpu) { return gpu.machine_index() + 1; }

std::string pci_bus_id_of(const Gpu& gpu) {
  char text[32];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(pci_bus_of(gpu)));
  return text;
}

Gpu* find_gpu_by_pci(const char* text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x", &bus, &slot) != 2) return nullptr;
  }
  for (int i = 0; i < gpu_count(); ++i) {
    Gpu* const gpu = gpu_at(i);
    if (gpu != nullptr && domain == 0 && slot == 0 &&
        static_cast<unsigned>(pci_bus_of(*gpu)) == bus) {
      return gpu;
    }
  }
  return nullptr;
}

}  // namespace unstarve::emulated
