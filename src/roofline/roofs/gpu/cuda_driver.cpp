#include "roofline/roofs/gpu/cuda_driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "device/cuda/symbol_lookup.h"

namespace unstarve::roofline {

namespace {

// The driver's types and numbers, as cuda.h has them.
using CudaResult = int;         // CUresult
using Address = std::uint64_t;  // CUdeviceptr
constexpr CudaResult kSuccess = 0;
constexpr CudaResult kOutOfMemory = 2;
constexpr CudaResult kPeerAccessAlreadyEnabled = 704;
constexpr unsigned int kPortable = 1;       // CU_MEMHOSTALLOC_PORTABLE
constexpr unsigned int kWriteCombined = 4;  // CU_MEMHOSTALLOC_WRITECOMBINED
constexpr unsigned int kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr int kCaptureRelaxed = 2;          // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr int kMemoryClockKhz = 36;         // CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE
constexpr int kMemoryBusBits = 37;          // CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH
constexpr int kL2Bytes = 38;                // CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE

// For every GPU since Maxwell; drivers compile PTX for the one they have.
constexpr const char* kEmptyKernel =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry unstarve_empty()\n{\n  ret;\n}\n";

}  // namespace

struct CudaDriver::Functions {
  CudaResult (*init)(unsigned int) = nullptr;
  CudaResult (*driver_version)(int*) = nullptr;
  CudaResult (*device_count)(int*) = nullptr;
  CudaResult (*device_get)(int*, int) = nullptr;
  CudaResult (*device_name)(char*, int, int) = nullptr;
  CudaResult (*device_uuid)(unsigned char*, int) = nullptr;
  CudaResult (*device_attribute)(int*, int, int) = nullptr;
  CudaResult (*device_memory)(std::size_t*, int) = nullptr;
  CudaResult (*retain)(void**, int) = nullptr;
  CudaResult (*release)(int) = nullptr;
  CudaResult (*set_current)(void*) = nullptr;
  CudaResult (*allocate)(Address*, std::size_t) = nullptr;
  CudaResult (*free)(Address) = nullptr;
  CudaResult (*host_allocate)(void**, std::size_t, unsigned int) = nullptr;
  CudaResult (*host_free)(void*) = nullptr;
  CudaResult (*to_device)(Address, const void*, std::size_t, void*) = nullptr;
  CudaResult (*to_host)(void*, Address, std::size_t, void*) = nullptr;
  CudaResult (*within)(Address, Address, std::size_t, void*) = nullptr;
  CudaResult (*can_access_peer)(int*, int, int) = nullptr;
  CudaResult (*enable_peer)(void*, unsigned int) = nullptr;
  CudaResult (*to_peer)(Address, void*, Address, void*, std::size_t, void*) = nullptr;
  CudaResult (*fill)(Address, unsigned int, std::size_t, void*) = nullptr;
  CudaResult (*stream_create)(void**, unsigned int) = nullptr;
  CudaResult (*stream_destroy)(void*) = nullptr;
  CudaResult (*stream_wait)(void*) = nullptr;
  CudaResult (*module_load)(void**, const void*) = nullptr;
  CudaResult (*module_unload)(void*) = nullptr;
  CudaResult (*module_function)(void**, void*, const char*) = nullptr;
  CudaResult (*launch)(void*, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                       unsigned int, unsigned int, void*, void**, void**) = nullptr;
  CudaResult (*capture)(void*, int) = nullptr;
  CudaResult (*end_capture)(void*, void**) = nullptr;
  CudaResult (*instantiate)(void**, void*, unsigned long long) = nullptr;
  CudaResult (*graph_launch)(void*, void*) = nullptr;
  CudaResult (*graph_destroy)(void*) = nullptr;
  CudaResult (*exec_destroy)(void*) = nullptr;
  CudaResult (*error_string)(CudaResult, const char**) = nullptr;

  /// The name of a function that `library` lacks, or nullptr.
  const char* look_up(void* library) {
    device::SymbolLookup find(library);
    find("cuInit", init);
    find("cuDriverGetVersion", driver_version);
    find("cuDeviceGetCount", device_count);
    find("cuDeviceGet", device_get);
    find("cuDeviceGetName", device_name);
    find("cuDeviceGetUuid", device_uuid);
    find("cuDeviceGetAttribute", device_attribute);
    find("cuDeviceTotalMem_v2", device_memory);
    find("cuDevicePrimaryCtxRetain", retain);
    find("cuDevicePrimaryCtxRelease_v2", release);
    find("cuCtxSetCurrent", set_current);
    find("cuMemAlloc_v2", allocate);
    find("cuMemFree_v2", free);
    find("cuMemHostAlloc", host_allocate);
    find("cuMemFreeHost", host_free);
    find("cuMemcpyHtoDAsync_v2", to_device);
    find("cuMemcpyDtoHAsync_v2", to_host);
    find("cuMemcpyDtoDAsync_v2", within);
    find("cuDeviceCanAccessPeer", can_access_peer);
    find("cuCtxEnablePeerAccess", enable_peer);
    find("cuMemcpyPeerAsync", to_peer);
    find("cuMemsetD32Async", fill);
    find("cuStreamCreate", stream_create);
    find("cuStreamDestroy_v2", stream_destroy);
    find("cuStreamSynchronize", stream_wait);
    find("cuModuleLoadData", module_load);
    find("cuModuleUnload", module_unload);
    find("cuModuleGetFunction", module_function);
    find("cuLaunchKernel", launch);
    find("cuStreamBeginCapture_v2", capture);
    find("cuStreamEndCapture", end_capture);
    find("cuGraphInstantiateWithFlags", instantiate);
    find("cuGraphLaunch", graph_launch);
    find("cuGraphDestroy", graph_destroy);
    find("cuGraphExecDestroy", exec_destroy);
    find("cuGetErrorString", error_string);
    return find.missing();
  }

  Status check(const char* call, CudaResult code) const {
    if (code == kSuccess) return {};
    const char* text = nullptr;
    if (error_string(code, &text) != kSuccess || text == nullptr) text = "an unknown error";
    return fail(code == kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kNotSupported,
                "{} failed: {} ({})", call, text, code);
  }
};

CudaDriver::CudaDriver(std::unique_ptr<Functions> functions) : functions_(std::move(functions)) {}
CudaDriver::~CudaDriver() = default;

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const std::string& library) {
  // Never unloaded: the driver has threads and exit handlers of its own.
  void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (loaded == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorCode::kNotFound, "no CUDA driver: {}", why != nullptr ? why : library);
  }
  auto functions = std::make_unique<Functions>();
  const char* missing = functions->look_up(loaded);
  ::dlclose(loaded);
  if (missing != nullptr) {
    return fail(ErrorCode::kNotSupported, "{} lacks {}: the driver is too old, or not CUDA's",
                library, missing);
  }
  std::unique_ptr<CudaDriver> driver(new CudaDriver(std::move(functions)));
  const Functions& cuda = driver->functions();
  if (Status done = cuda.check("cuInit", cuda.init(0)); !done) return forward_error(done);
  if (Status done = cuda.check("cuDeviceGetCount", cuda.device_count(&driver->gpu_count_)); !done) {
    return forward_error(done);
  }
  static_cast<void>(cuda.driver_version(&driver->cuda_version_));
  return driver;
}

CudaMemory::CudaMemory(CudaMemory&& other) noexcept
    : functions_(other.functions_),
      kind_(other.kind_),
      address_(std::exchange(other.address_, 0)) {}

CudaMemory::~CudaMemory() {
  if (address_ == 0) return;
  if (kind_ == Kind::kDevice) {
    functions_->free(address_);
  } else {
    functions_->host_free(host());
  }
}

void* CudaMemory::host() const { return std::bit_cast<void*>(address_); }

CudaGpu::CudaGpu(const CudaDriver& driver, int device)
    : functions_(driver.functions()), device_(device) {}

Result<std::unique_ptr<CudaGpu>> CudaGpu::open(const CudaDriver& driver, int ordinal) {
  const CudaDriver::Functions& cuda = driver.functions();
  int device = 0;
  if (Status done = cuda.check("cuDeviceGet", cuda.device_get(&device, ordinal)); !done) {
    return forward_error(done);
  }
  std::unique_ptr<CudaGpu> gpu(new CudaGpu(driver, device));
  if (Status done = gpu->describe(device); !done) return forward_error(done);
  if (Status done = cuda.check("cuDevicePrimaryCtxRetain", cuda.retain(&gpu->context_, device));
      !done) {
    return forward_error(done);
  }
  gpu->retained_ = true;
  if (Status done = gpu->make_current(); !done) return forward_error(done);
  if (Status done = cuda.check("cuStreamCreate", cuda.stream_create(&gpu->stream_, kNonBlocking));
      !done) {
    return forward_error(done);
  }
  return gpu;
}

Status CudaGpu::describe(int device) {
  std::array<char, 256> name{};
  const int room = static_cast<int>(name.size()) - 1;
  Status done =
      functions_.check("cuDeviceGetName", functions_.device_name(name.data(), room, device));
  if (!done) return done;
  name_ = name.data();
  std::array<unsigned char, 16> id{};
  done = functions_.check("cuDeviceGetUuid", functions_.device_uuid(id.data(), device));
  if (!done) return done;
  uuid_ = "GPU-";
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid_ += '-';
    uuid_ += fmt::format("{:02x}", id[i]);
  }
  std::size_t memory = 0;
  done = functions_.check("cuDeviceTotalMem", functions_.device_memory(&memory, device));
  if (!done) return done;
  memory_bytes_ = memory;
  l2_bytes_ = static_cast<std::uint64_t>(attribute(kL2Bytes));
  constexpr double kBitsAByte = 8;
  memory_peak_ = 2e3 * attribute(kMemoryClockKhz) * attribute(kMemoryBusBits) / kBitsAByte;
  return {};
}

int CudaGpu::attribute(int which) const {
  int value = 0;
  const CudaResult code = functions_.device_attribute(&value, which, device_);
  return code == kSuccess ? std::max(value, 0) : 0;
}

CudaGpu::~CudaGpu() {
  // At worst the driver is gone, and all of it with it.
  if (graph_ != nullptr) functions_.exec_destroy(graph_);
  if (module_ != nullptr) functions_.module_unload(module_);
  for (void* stream : {stream_, beside_}) {
    if (stream != nullptr) functions_.stream_destroy(stream);
  }
  if (retained_) functions_.release(device_);
}

Result<CudaMemory> CudaGpu::allocate(CudaMemory::Kind kind, std::size_t bytes) const {
  if (kind == CudaMemory::Kind::kDevice) {
    Address address = 0;
    const Status done = functions_.check("cuMemAlloc", functions_.allocate(&address, bytes));
    if (!done) return forward_error(done);
    return CudaMemory(functions_, kind, address);
  }
  const bool combined = kind == CudaMemory::Kind::kWriteCombined;
  void* memory = nullptr;
  const Status done = functions_.check(
      "cuMemHostAlloc",
      functions_.host_allocate(&memory, bytes, kPortable | (combined ? kWriteCombined : 0)));
  if (!done) return forward_error(done);
  return CudaMemory(functions_, kind, std::bit_cast<std::uint64_t>(memory));
}

Status CudaGpu::make_current() const {
  return functions_.check("cuCtxSetCurrent", functions_.set_current(context_));
}

Result<bool> CudaGpu::reach(const CudaGpu& peer) const {
  int can = 0;
  Status done = functions_.check("cuDeviceCanAccessPeer",
                                 functions_.can_access_peer(&can, device_, peer.device_));
  if (!done) return forward_error(done);
  if (can == 0) return false;
  done = make_current();
  if (!done) return forward_error(done);
  const CudaResult enabled = functions_.enable_peer(peer.context_, 0);
  if (enabled == kPeerAccessAlreadyEnabled) return true;
  done = functions_.check("cuCtxEnablePeerAccess", enabled);
  if (!done) return forward_error(done);
  return true;
}

Status CudaGpu::to_device(std::uint64_t device, const void* host, std::size_t bytes) const {
  return functions_.check("cuMemcpyHtoDAsync", functions_.to_device(device, host, bytes, stream_));
}

Status CudaGpu::to_host(void* host, std::uint64_t device, std::size_t bytes) const {
  return functions_.check("cuMemcpyDtoHAsync", functions_.to_host(host, device, bytes, stream_));
}

Status CudaGpu::within_device(std::uint64_t target, std::uint64_t source, std::size_t bytes) const {
  return functions_.check("cuMemcpyDtoDAsync", functions_.within(target, source, bytes, stream_));
}

Status CudaGpu::fill(std::uint64_t device, std::size_t bytes) const {
  return functions_.check("cuMemsetD32Async",
                          functions_.fill(device, 1, bytes / sizeof(std::uint32_t), stream_));
}

Status CudaGpu::to_peer(const CudaGpu& peer, std::uint64_t target, std::uint64_t source,
                        std::size_t bytes) const {
  return functions_.check("cuMemcpyPeerAsync", functions_.to_peer(target, peer.context_, source,
                                                                  context_, bytes, stream_));
}

Status CudaGpu::to_host_beside(void* host, std::uint64_t device, std::size_t bytes) {
  if (beside_ == nullptr) {
    const Status done =
        functions_.check("cuStreamCreate", functions_.stream_create(&beside_, kNonBlocking));
    if (!done) return done;
  }
  return functions_.check("cuMemcpyDtoHAsync", functions_.to_host(host, device, bytes, beside_));
}

Status CudaGpu::finish() const {
  const Status done = functions_.check("cuStreamSynchronize", functions_.stream_wait(stream_));
  if (!done || beside_ == nullptr) return done;
  return functions_.check("cuStreamSynchronize", functions_.stream_wait(beside_));
}

Status CudaGpu::load_empty_kernel() {
  if (kernel_ != nullptr) return {};
  const Status done =
      functions_.check("cuModuleLoadData", functions_.module_load(&module_, kEmptyKernel));
  if (!done) return done;
  return functions_.check("cuModuleGetFunction",
                          functions_.module_function(&kernel_, module_, "unstarve_empty"));
}

Status CudaGpu::launch_empty_kernel() const {
  return functions_.check("cuLaunchKernel", functions_.launch(kernel_, 1, 1, 1, 32, 1, 1, 0,
                                                              stream_, nullptr, nullptr));
}

Status CudaGpu::make_empty_graph(int nodes) {
  Status done =
      functions_.check("cuStreamBeginCapture", functions_.capture(stream_, kCaptureRelaxed));
  if (!done) return done;
  for (int i = 0; i < nodes && done; ++i) done = launch_empty_kernel();
  void* captured = nullptr;
  const Status ended =
      functions_.check("cuStreamEndCapture", functions_.end_capture(stream_, &captured));
  if (!done) return done;
  if (!ended) return ended;
  done =
      functions_.check("cuGraphInstantiateWithFlags", functions_.instantiate(&graph_, captured, 0));
  functions_.graph_destroy(captured);
  return done;
}

Status CudaGpu::launch_graph() const {
  return functions_.check("cuGraphLaunch", functions_.graph_launch(graph_, stream_));
}

}  // namespace unstarve::roofline
