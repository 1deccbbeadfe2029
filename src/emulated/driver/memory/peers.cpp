#include "emulated/context/peers.h"

#include "emulated/driver/driver_call.h"

/// Other GPUs and other processes.
namespace unstarve::emulated {
namespace {

template <class Act>
Outcome on_peer(const void* context, Act act) {
  return on_context([&](Gpu& gpu) {
    const Context* const peer = find_context(context);
    return peer != nullptr ? act(gpu, peer->gpu) : Outcome::kInvalidContext;
  });
}

}  // namespace

UNSTARVE_CUDA cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return on_device(device, [&](Gpu&) {
    return on_device(peer,
                     [&](Gpu&) { return answer(can, can_access_peer(device, peer) ? 1 : 0); });
  });
}

UNSTARVE_CUDA cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  constexpr int kAccessSupported = 2;  // of performance ranks there is one, the best: 0
  if (!can_access_peer(device, peer)) return Outcome::kInvalidDevice;
  return answer(value, attribute == kAccessSupported ? 1 : 0);
}

UNSTARVE_CUDA cuCtxEnablePeerAccess(void* context, unsigned flags) {
  if (flags != 0) return Outcome::kInvalidValue;
  return on_peer(context, [](Gpu& gpu, int peer) { return enable_peer_access(gpu.index(), peer); });
}

UNSTARVE_CUDA cuCtxDisablePeerAccess(void* context) {
  return on_peer(context,
                 [](Gpu& gpu, int peer) { return disable_peer_access(gpu.index(), peer); });
}

UNSTARVE_CUDA cuIpcGetMemHandle(cuda::IpcHandle* handle, cuda::DevicePointer pointer) {
  return on_context([&](Gpu&) { return share_memory(address_of(pointer), handle); });
}

UNSTARVE_CUDA cuIpcOpenMemHandle_v2(cuda::DevicePointer* pointer, cuda::IpcHandle handle,
                                    unsigned) {
  if (pointer == nullptr) return Outcome::kInvalidValue;
  return on_context([&](Gpu& gpu) {
    void* address = nullptr;
    const Outcome outcome = open_shared_memory(gpu, handle, &address);
    if (outcome == Outcome::kSuccess) *pointer = pointer_to(address);
    return outcome;
  });
}

UNSTARVE_CUDA cuIpcCloseMemHandle(cuda::DevicePointer pointer) {
  return on_context([&](Gpu&) { return close_shared_memory(address_of(pointer)); });
}

UNSTARVE_CUDA cuIpcGetEventHandle(cuda::IpcHandle* handle, void* event) {
  return on_event(event, [&](Event* found) { return share_event(found, handle); });
}

UNSTARVE_CUDA cuIpcOpenEventHandle(void** event, cuda::IpcHandle handle) {
  if (event == nullptr) return Outcome::kInvalidValue;
  return on_context([&](Gpu&) {
    Event* opened = nullptr;
    const Outcome outcome = open_shared_event(handle, &opened);
    if (outcome == Outcome::kSuccess) *event = opened;
    return outcome;
  });
}

}  // namespace unstarve::emulated
