#pragma once

#include <memory>
#include <string>

#include "device/pinned_host.h"

namespace unstarve::device {

/// Page-locked memory from CUDA's driver, whose library is looked up at run time.
///
///   auto pinned = CudaPinnedHost::open({.device = 0});
///   auto memory = (*pinned)->allocate(1 << 20);
///
/// It works in the primary context of one device, the one that PyTorch and the CUDA runtime use
/// there, and touches no other device. The driver is initialised, and the context retained, by the
/// first allocate(), so that a process may fork until then. The memory is portable: it is pinned
/// for all contexts. After the driver has shut down, at the end of the process, release() does
/// nothing.
class CudaPinnedHost final : public PinnedHost {
 public:
  struct Options {
    std::string library = "libcuda.so.1";
    int device = 0;  // as CUDA counts those that are visible
  };
  /// kNotFound without the library, kNotSupported where it lacks a function.
  static Result<std::unique_ptr<CudaPinnedHost>> open(const Options& options);
  ~CudaPinnedHost() override;

  Result<void*> allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  std::string name() const override;

 private:
  struct Driver;
  CudaPinnedHost(std::unique_ptr<Driver> driver, int device);
  const std::unique_ptr<Driver> driver_;
  const int device_;
};

}  // namespace unstarve::device
