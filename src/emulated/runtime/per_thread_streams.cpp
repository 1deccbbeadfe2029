#include "emulated/runtime/runtime_call.h"
#include "emulated/runtime/runtime_functions.h"

/// The variants for programs compiled with per-thread default streams: stream 0 is the thread's.
namespace unstarve::emulated {

UNSTARVE_CUDART cudaMemcpyAsync_ptsz(void* target, const void* source, std::size_t bytes,
                                     cuda::MemcpyKind kind, void* stream) {
  return cudaMemcpyAsync(target, source, bytes, kind, per_thread(stream));
}

UNSTARVE_CUDART cudaMemcpy_ptds(void* target, const void* source, std::size_t bytes,
                                cuda::MemcpyKind kind) {
  const Outcome copied = cudaMemcpyAsync(target, source, bytes, kind, per_thread(nullptr));
  return copied == Outcome::kSuccess ? cudaStreamSynchronize(per_thread(nullptr)) : copied;
}

UNSTARVE_CUDART cudaMemcpy2DAsync_ptsz(void* target, std::size_t target_pitch, const void* source,
                                       std::size_t source_pitch, std::size_t width,
                                       std::size_t height, cuda::MemcpyKind kind, void* stream) {
  return cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind,
                           per_thread(stream));
}

UNSTARVE_CUDART cudaMemsetAsync_ptsz(void* target, int value, std::size_t bytes, void* stream) {
  return cudaMemsetAsync(target, value, bytes, per_thread(stream));
}

UNSTARVE_CUDART cudaMemset_ptds(void* target, int value, std::size_t bytes) {
  return cudaMemsetAsync(target, value, bytes, per_thread(nullptr));
}

UNSTARVE_CUDART cudaMallocAsync_ptsz(void** address, std::size_t bytes, void* stream) {
  return cudaMallocAsync(address, bytes, per_thread(stream));
}

UNSTARVE_CUDART cudaFreeAsync_ptsz(void* address, void* stream) {
  return cudaFreeAsync(address, per_thread(stream));
}

UNSTARVE_CUDART cudaLaunchKernel_ptsz(const void* function, cuda::Dim3 grid, cuda::Dim3 block,
                                      void** arguments, std::size_t shared_bytes, void* stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, per_thread(stream));
}

UNSTARVE_CUDART cudaLaunchCooperativeKernel_ptsz(const void* function, cuda::Dim3 grid,
                                                 cuda::Dim3 block, void** arguments,
                                                 std::size_t shared_bytes, void* stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes,
                                     per_thread(stream));
}

UNSTARVE_CUDART cudaLaunchKernelExC_ptsz(const cuda::LaunchConfig* config, const void* function,
                                         void** arguments) {
  if (config == nullptr) return remember(Outcome::kInvalidValue);
  cuda::LaunchConfig own = *config;
  own.stream = per_thread(own.stream);
  return cudaLaunchKernelExC(&own, function, arguments);
}

UNSTARVE_CUDART cudaLaunchHostFunc_ptsz(void* stream, void (*function)(void*), void* argument) {
  return cudaLaunchHostFunc(per_thread(stream), function, argument);
}

UNSTARVE_CUDART cudaStreamSynchronize_ptsz(void* stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

UNSTARVE_CUDART cudaStreamQuery_ptsz(void* stream) { return cudaStreamQuery(per_thread(stream)); }

UNSTARVE_CUDART cudaStreamWaitEvent_ptsz(void* stream, void* event, unsigned flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

UNSTARVE_CUDART cudaStreamGetPriority_ptsz(void* stream, int* priority) {
  return cudaStreamGetPriority(per_thread(stream), priority);
}

UNSTARVE_CUDART cudaStreamGetFlags_ptsz(void* stream, unsigned* flags) {
  return cudaStreamGetFlags(per_thread(stream), flags);
}

UNSTARVE_CUDART cudaStreamBeginCapture_ptsz(void* stream, int mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

UNSTARVE_CUDART cudaStreamEndCapture_ptsz(void* stream, void** graph) {
  return cudaStreamEndCapture(per_thread(stream), graph);
}

UNSTARVE_CUDART cudaStreamIsCapturing_ptsz(void* stream, cuda::CaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

UNSTARVE_CUDART cudaEventRecord_ptsz(void* event, void* stream) {
  return cudaEventRecord(event, per_thread(stream));
}

UNSTARVE_CUDART cudaEventRecordWithFlags_ptsz(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, per_thread(stream));
}

UNSTARVE_CUDART cudaGraphLaunch_ptsz(void* executable, void* stream) {
  return cudaGraphLaunch(executable, per_thread(stream));
}

}  // namespace unstarve::emulated
