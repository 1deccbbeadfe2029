#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::roofline {

/// CUDA's driver, as far as roofs need it: looked up in libcuda.so.1 when the program runs, the
/// real one or the emulated GPU's. Every call that fails is an Error with the call's name.
///
///   auto driver = CudaDriver::open("libcuda.so.1");
///   auto gpu = (*driver)->gpu(0);
///
/// Thread rule: one thread. Lifetime: outlives what it gives.
class CudaDriver {
 public:
  struct Functions;

  static Result<std::unique_ptr<CudaDriver>> open(const std::string& library);
  ~CudaDriver();
  int gpu_count() const { return gpu_count_; }
  int cuda_version() const { return cuda_version_; }  // 13020: CUDA 13.2
  const Functions& functions() const { return *functions_; }

 private:
  explicit CudaDriver(std::unique_ptr<Functions> functions);
  std::unique_ptr<Functions> functions_;
  int gpu_count_ = 0;
  int cuda_version_ = 0;
};

/// Memory of a GPU, or page-locked memory of the host that it knows; freed with the object.
class CudaMemory {
 public:
  enum class Kind { kDevice, kPinned, kWriteCombined };
  CudaMemory(const CudaDriver::Functions& functions, Kind kind, std::uint64_t address)
      : functions_(&functions), kind_(kind), address_(address) {}
  CudaMemory(CudaMemory&& other) noexcept;
  CudaMemory& operator=(CudaMemory&&) = delete;
  ~CudaMemory();

  std::uint64_t device() const { return address_; }
  void* host() const;

 private:
  const CudaDriver::Functions* functions_;
  Kind kind_;
  std::uint64_t address_;  // 0: given away
};

/// One GPU with a stream of its own in its primary context, which is current in this thread from
/// open() on, until that of another one is. Memory is allocated on the current one.
class CudaGpu {
 public:
  static Result<std::unique_ptr<CudaGpu>> open(const CudaDriver& driver, int ordinal);
  ~CudaGpu();
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  const std::string& name() const { return name_; }
  const std::string& uuid() const { return uuid_; }  // "GPU-..." as NVML writes it
  std::uint64_t l2_bytes() const { return l2_bytes_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }
  /// Of bus width and memory clock, both edges; 0 where the driver does not say.
  double memory_peak_bytes_per_s() const { return memory_peak_; }

  Result<CudaMemory> allocate(CudaMemory::Kind kind, std::size_t bytes) const;
  Status make_current() const;

  /// Lets this GPU reach the memory of another one, over whatever joins them. False: it cannot, and
  /// copies between them go through the host's memory.
  Result<bool> reach(const CudaGpu& peer) const;

  // Asynchronous, in the stream.
  Status to_device(std::uint64_t device, const void* host, std::size_t bytes) const;
  Status to_host(void* host, std::uint64_t device, std::size_t bytes) const;
  Status within_device(std::uint64_t target, std::uint64_t source, std::size_t bytes) const;
  Status fill(std::uint64_t device, std::size_t bytes) const;
  /// `target` is of another GPU, `source` of this one.
  Status to_peer(const CudaGpu& peer, std::uint64_t target, std::uint64_t source,
                 std::size_t bytes) const;
  /// As to_host(), but in a second stream, so that the other direction goes at the same time.
  Status to_host_beside(void* host, std::uint64_t device, std::size_t bytes);

  /// Waits for all of it.
  Status finish() const;

  /// An empty kernel, from PTX that the driver compiles.
  Status load_empty_kernel();
  Status launch_empty_kernel() const;
  /// A graph of `nodes` empty kernels, one after the other.
  Status make_empty_graph(int nodes);
  Status launch_graph() const;

 private:
  CudaGpu(const CudaDriver& driver, int device);
  Status describe(int device);
  int attribute(int which) const;

  const CudaDriver::Functions& functions_;
  int device_;
  bool retained_ = false;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  void* beside_ = nullptr;  // the second stream, once it is used
  void* module_ = nullptr;
  void* kernel_ = nullptr;
  void* graph_ = nullptr;
  std::string name_;
  std::string uuid_;
  std::uint64_t l2_bytes_ = 0;
  std::uint64_t memory_bytes_ = 0;
  double memory_peak_ = 0;
};

}  // namespace unstarve::roofline
