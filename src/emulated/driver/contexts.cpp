#include "emulated/driver/driver_call.h"

/// Contexts. A GPU has one, its primary context; what cuCtxCreate makes is the same one.
namespace unstarve::emulated {
namespace {

constexpr unsigned kApiVersion = 3020;

Outcome create(void** context, unsigned flags, int device) {
  return on_device(device, [&](Gpu& gpu) {
    Context* const made = context_of(gpu.index());
    if (context == nullptr || !set_schedule_flags(*made, flags)) return Outcome::kInvalidValue;
    made->holders.fetch_add(1);
    made->active = true;
    *context = made;
    return push_context(made);
  });
}

/// `act(context)` with the context that `handle` is; nullptr means the thread's.
template <class Act>
Outcome on_handle(const void* handle, Act act) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  Context* const context = handle != nullptr ? find_context(handle) : current_context();
  return context != nullptr ? act(*context) : Outcome::kInvalidContext;
}

Outcome release(Context& context) {
  int holders = context.holders.load();
  while (holders > 0 && !context.holders.compare_exchange_weak(holders, holders - 1)) {
  }
  return holders > 0 ? Outcome::kSuccess : Outcome::kInvalidContext;
}

}  // namespace

UNSTARVE_CUDA cuDevicePrimaryCtxRetain(void** context, int device) {
  return on_device(device, [&](Gpu& gpu) {
    if (context == nullptr) return Outcome::kInvalidValue;
    Context* const found = context_of(gpu.index());
    found->holders.fetch_add(1);
    found->active = true;
    *context = found;
    return Outcome::kSuccess;
  });
}

UNSTARVE_CUDA cuDevicePrimaryCtxRelease_v2(int device) {
  return on_device(device, [](Gpu& gpu) { return release(*context_of(gpu.index())); });
}

UNSTARVE_CUDA cuDevicePrimaryCtxReset_v2(int device) {
  return on_device(device, [](Gpu& gpu) {
    context_of(gpu.index())->active = false;
    return gpu.reset();
  });
}

UNSTARVE_CUDA cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return on_device(device, [&](Gpu& gpu) {
    return set_schedule_flags(*context_of(gpu.index()), flags) ? Outcome::kSuccess
                                                               : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return on_device(device, [&](Gpu& gpu) {
    const Context& context = *context_of(gpu.index());
    if (flags == nullptr) return Outcome::kInvalidValue;
    *flags = context.flags;
    return answer(active, context.active ? 1 : 0);
  });
}

UNSTARVE_CUDA cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return create(context, flags, device);
}

UNSTARVE_CUDA cuCtxCreate_v3(void** context, void*, int affinities, unsigned flags, int device) {
  return affinities == 0 ? create(context, flags, device) : Outcome::kNotSupported;
}

UNSTARVE_CUDA cuCtxCreate_v4(void** context, void* parameters, unsigned flags, int device) {
  return parameters == nullptr ? create(context, flags, device) : Outcome::kNotSupported;
}

UNSTARVE_CUDA cuCtxDestroy_v2(void* context) {
  return on_handle(context, [&](Context& found) {
    if (context == nullptr) return Outcome::kInvalidContext;
    if (current_context() == &found) static_cast<void>(pop_context(nullptr));
    return release(found);
  });
}

UNSTARVE_CUDA cuCtxGetCurrent(void** context) {
  const Outcome why = usable();
  if (why != Outcome::kSuccess) return why;
  return answer(context, static_cast<void*>(current_context()));
}

UNSTARVE_CUDA cuCtxSetCurrent(void* context) {
  if (context == nullptr) return set_current_context(nullptr);
  return on_handle(context, [](Context& found) { return set_current_context(&found); });
}

UNSTARVE_CUDA cuCtxPushCurrent_v2(void* context) {
  if (context == nullptr) return Outcome::kInvalidValue;
  return on_handle(context, [](Context& found) { return push_context(&found); });
}

UNSTARVE_CUDA cuCtxPopCurrent_v2(void** context) {
  Context* popped = nullptr;
  const Outcome outcome = pop_context(&popped);
  if (outcome == Outcome::kSuccess && context != nullptr) *context = popped;
  return outcome;
}

UNSTARVE_CUDA cuCtxGetDevice(int* device) {
  return on_context([&](Gpu& gpu) { return answer(device, gpu.index()); });
}

UNSTARVE_CUDA cuCtxGetDevice_v2(int* device, void* context) {
  return on_handle(context, [&](Context& found) { return answer(device, found.gpu); });
}

UNSTARVE_CUDA cuCtxGetFlags(unsigned* flags) {
  return on_context([&](Gpu& gpu) { return answer(flags, context_of(gpu.index())->flags.load()); });
}

UNSTARVE_CUDA cuCtxSetFlags(unsigned flags) {
  return on_context([&](Gpu& gpu) {
    return set_schedule_flags(*context_of(gpu.index()), flags) ? Outcome::kSuccess
                                                               : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuCtxGetId(void* context, unsigned long long* id) {
  return on_handle(context, [&](Context& found) {
    return answer(id, static_cast<unsigned long long>(found.gpu) + 1);
  });
}

UNSTARVE_CUDA cuCtxGetApiVersion(void* context, unsigned* version) {
  return on_handle(context, [&](Context&) { return answer(version, kApiVersion); });
}

UNSTARVE_CUDA cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = cuda::kPriorityLeast;
  if (greatest != nullptr) *greatest = cuda::kPriorityGreatest;
  return usable();
}

UNSTARVE_CUDA cuCtxSetLimit(int limit, std::size_t) {
  return on_context(
      [&](Gpu&) { return limit >= 0 && limit < 7 ? Outcome::kSuccess : Outcome::kInvalidValue; });
}

UNSTARVE_CUDA cuCtxGetLimit(std::size_t* value, int limit) {
  return on_context([&](Gpu&) {
    return limit >= 0 && limit < 7 ? answer(value, std::size_t{1024}) : Outcome::kInvalidValue;
  });
}

UNSTARVE_CUDA cuCtxGetCacheConfig(int* config) {
  return on_context([&](Gpu&) { return answer(config, 0); });
}

UNSTARVE_CUDA cuCtxSetCacheConfig(int) {
  return on_context([](Gpu&) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuCtxSynchronize() {
  const DriverCall call(Call::kDeviceSynchronize);
  return on_context([](Gpu& gpu) { return gpu.synchronize_device(); });
}

UNSTARVE_CUDA cuCtxSynchronize_v2(void* context) {
  const DriverCall call(Call::kDeviceSynchronize);
  return on_handle(context, [](Context& found) { return gpu_at(found.gpu)->synchronize_device(); });
}

UNSTARVE_CUDA cuProfilerStart() {
  return on_context([](Gpu&) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuProfilerStop() {
  return on_context([](Gpu&) { return Outcome::kSuccess; });
}

}  // namespace unstarve::emulated
