#pragma once

#include <cstddef>
#include <cstdint>

#include "emulated/abi/runtime_abi.h"
#include "emulated/process/gpu.h"

/// Code that a program loads (CUmodule, CUlibrary, cudaLibrary_t), its kernels and its variables.
/// Nothing looks into an image: whatever name is asked for is there, as the program that compiled
/// the image knows its names better than we do.
namespace unstarve::emulated {

class Module;

/// kInvalidImage: it is none of the kinds of image there are.
Outcome load_module(const void* image, Module** out);
/// kFileNotFound: there is no such file.
Outcome load_module_file(const char* path, Module** out);
/// nullptr: no module, or one that was unloaded.
Module* find_module(const void* handle);
Outcome unload_module(Module* module);
Outcome find_in_module(Module* module, const char* name, Kernel** out);
/// A variable of the device. Its size is not known; there is room for 64 KiB.
Outcome find_variable(Module* module, const char* name, void** address, std::size_t* bytes);
Module* module_of(const Kernel* kernel);

/// What a program set for a kernel, and what it may ask of one. Registers and static shared memory
/// are not known without looking into an image: 32 and 0.
struct KernelFacts {
  int max_dynamic_shared_bytes = 49152;
  int preferred_shared_carveout = -1;
  int registers = 32;
};
KernelFacts facts_of(const Kernel* kernel);
/// kInvalidValue: more shared memory than `gpu` lets a block have.
Outcome set_max_dynamic_shared_bytes(const Gpu& gpu, const Kernel* kernel, int bytes);
void set_preferred_carveout(const Kernel* kernel, int percent);

/// Checks a launch as the device would, then puts it on `stream`.
struct LaunchShape {
  cuda::Dim3 grid;
  cuda::Dim3 block;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  const void* const* arguments = nullptr;  // each by its address; nullptr: not known
};
Outcome launch_kernel(Stream* stream, const Kernel* kernel, const LaunchShape& shape);

/// Blocks of such a size that fit on a multiprocessor together; 0: not even one.
int resident_blocks(const Gpu& gpu, const Kernel* kernel, int block_threads,
                    std::size_t shared_bytes);

}  // namespace unstarve::emulated
