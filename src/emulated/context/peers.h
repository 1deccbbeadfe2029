#pragma once

#include "emulated/abi/runtime_abi.h"
#include "emulated/process/gpu.h"

/// What crosses the bounds of one GPU or one process.
namespace unstarve::emulated {

/// Every GPU reaches every other one of its machine, over the profile's link.
bool can_access_peer(int from, int to);
Outcome enable_peer_access(int from, int to);
Outcome disable_peer_access(int from, int to);

/// Memory of another process: the same size, known as device memory here, holding zeros. Counted
/// where it was allocated.
Outcome share_memory(const void* address, cuda::IpcHandle* out);
Outcome open_shared_memory(Gpu& gpu, const cuda::IpcHandle& handle, void** out);
Outcome close_shared_memory(void* address);

/// Events of another process. Nothing tells when that process's work ends: an event opened here
/// counts as complete until this process records it.
Outcome share_event(const Event* event, cuda::IpcHandle* out);
Outcome open_shared_event(const cuda::IpcHandle& handle, Event** out);

}  // namespace unstarve::emulated
