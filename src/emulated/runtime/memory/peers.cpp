#include "emulated/context/peers.h"

#include "emulated/runtime/runtime_call.h"

/// Other GPUs and other processes.
namespace unstarve::emulated {
namespace {

Outcome close(void* address) {
  return on_gpu([&](Gpu&) { return close_shared_memory(address); });
}

}  // namespace

UNSTARVE_CUDART cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return remember(on_device(device, [&](Gpu&) {
    return on_device(peer,
                     [&](Gpu&) { return answer(can, can_access_peer(device, peer) ? 1 : 0); });
  }));
}

UNSTARVE_CUDART cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags != 0) return remember(Outcome::kInvalidValue);
  return remember(on_gpu([&](Gpu& gpu) { return enable_peer_access(gpu.index(), peer); }));
}

UNSTARVE_CUDART cudaDeviceDisablePeerAccess(int peer) {
  return remember(on_gpu([&](Gpu& gpu) { return disable_peer_access(gpu.index(), peer); }));
}

UNSTARVE_CUDART cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  constexpr int kAccessSupported = 2;  // of performance ranks there is one, the best: 0
  return remember(on_device(device, [&](Gpu&) {
    if (!can_access_peer(device, peer)) return Outcome::kInvalidDevice;
    return answer(value, attribute == kAccessSupported ? 1 : 0);
  }));
}

UNSTARVE_CUDART cudaIpcGetMemHandle(cuda::IpcHandle* handle, void* address) {
  return remember(on_gpu([&](Gpu&) { return share_memory(address, handle); }));
}

UNSTARVE_CUDART cudaIpcOpenMemHandle(void** address, cuda::IpcHandle handle, unsigned) {
  return remember(on_gpu([&](Gpu& gpu) { return open_shared_memory(gpu, handle, address); }));
}

UNSTARVE_CUDART cudaIpcCloseMemHandle(void* address) { return remember(close(address)); }

UNSTARVE_CUDART cudaIpcGetEventHandle(cuda::IpcHandle* handle, void* event) {
  return remember(on_event(event, [&](Event* found) { return share_event(found, handle); }));
}

UNSTARVE_CUDART cudaIpcOpenEventHandle(void** event, cuda::IpcHandle handle) {
  if (event == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_gpu([&](Gpu&) {
    Event* opened = nullptr;
    const Outcome outcome = open_shared_event(handle, &opened);
    if (outcome == Outcome::kSuccess) *event = opened;
    return outcome;
  }));
}

}  // namespace unstarve::emulated
