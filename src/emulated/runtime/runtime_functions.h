#pragma once

#include <cstddef>

#include "emulated/abi/runtime_abi.h"
#include "emulated/engine/outcome.h"

/// The runtime's own functions that its variants for per-thread default streams call.
namespace unstarve::emulated {

extern "C" {

Outcome cudaMemcpy(void* target, const void* source, std::size_t bytes, cuda::MemcpyKind kind);
Outcome cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cuda::MemcpyKind kind,
                        void* stream);
Outcome cudaMemcpy2DAsync(void* target, std::size_t target_pitch, const void* source,
                          std::size_t source_pitch, std::size_t width, std::size_t height,
                          cuda::MemcpyKind kind, void* stream);
Outcome cudaMemcpyPeerAsync(void* target, int target_device, const void* source, int source_device,
                            std::size_t bytes, void* stream);
Outcome cudaMemset(void* target, int value, std::size_t bytes);
Outcome cudaMemsetAsync(void* target, int value, std::size_t bytes, void* stream);
Outcome cudaMallocAsync(void** address, std::size_t bytes, void* stream);
Outcome cudaFreeAsync(void* address, void* stream);
Outcome cudaLaunchKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block, void** arguments,
                         std::size_t shared_bytes, void* stream);
Outcome cudaLaunchCooperativeKernel(const void* function, cuda::Dim3 grid, cuda::Dim3 block,
                                    void** arguments, std::size_t shared_bytes, void* stream);
Outcome cudaLaunchKernelExC(const cuda::LaunchConfig* config, const void* function,
                            void** arguments);
Outcome cudaLaunchHostFunc(void* stream, void (*function)(void*), void* argument);
Outcome cudaStreamSynchronize(void* stream);
Outcome cudaStreamQuery(void* stream);
Outcome cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
Outcome cudaStreamGetPriority(void* stream, int* priority);
Outcome cudaStreamGetFlags(void* stream, unsigned* flags);
Outcome cudaStreamBeginCapture(void* stream, int mode);
Outcome cudaStreamEndCapture(void* stream, void** graph);
Outcome cudaStreamIsCapturing(void* stream, cuda::CaptureStatus* status);
Outcome cudaEventRecord(void* event, void* stream);
Outcome cudaGraphLaunch(void* executable, void* stream);

}  // extern "C"

}  // namespace unstarve::emulated
