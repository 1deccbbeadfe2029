#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "emulated/abi/runtime_abi.h"
#include "emulated/process/gpu.h"

/// The context of a GPU in this process and which one a thread uses, as driver and runtime share
/// them. There is one for each GPU, its primary context: what cuCtxCreate makes is the same one.
namespace unstarve::emulated {

/// A CUcontext is its address.
struct Context {
  int gpu = -1;                         // index
  std::atomic<int> holders{0};          // cuDevicePrimaryCtxRetain
  std::atomic<bool> active{false};      // something was done with the GPU
  std::atomic<std::uint32_t> flags{0};  // cudaDeviceSchedule..., as set
};

/// nullptr: no such GPU.
Context* context_of(int gpu);
/// The one that `handle` is; nullptr: none.
Context* find_context(const void* handle);

/// The calling thread's; nullptr: it has none. The runtime gives it one at the first use.
Context* current_context();
/// Replaces the thread's context, which also is the GPU that process/ takes as the thread's.
Outcome set_current_context(Context* context);
Outcome push_context(Context* context);
/// kInvalidContext: the thread has none.
Outcome pop_context(Context** out);

/// The calling thread's GPU for a call of the runtime, which makes it the thread's context and
/// active; nullptr: `*why` says why there is none.
Gpu* runtime_gpu(Outcome* why);
/// The same for a call of the driver: without a context there is none.
Gpu* driver_gpu(Outcome* why);

/// How threads wait, by the flags of cudaSetDeviceFlags. False: no such flags.
bool set_schedule_flags(Context& context, std::uint32_t flags);

/// The same on every machine for one number of a GPU: "unstarve-emu" and the number.
cuda::Uuid uuid_of(const Gpu& gpu);
/// "0000:01:00.0" for the machine's first GPU.
std::string pci_bus_id_of(const Gpu& gpu);
int pci_bus_of(const Gpu& gpu);
/// The GPU that a text such as "0000:02:00.0" names; nullptr: none.
Gpu* find_gpu_by_pci(const char* text);

}  // namespace unstarve::emulated
