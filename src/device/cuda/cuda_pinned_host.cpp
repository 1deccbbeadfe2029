#include "device/cuda/cuda_pinned_host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "base/mutex.h"
#include "device/cuda/symbol_lookup.h"

namespace unstarve::device {
namespace {

// The driver's types and numbers, as cuda.h has had them since CUDA 7.
using CudaResult = int;  // CUresult
using CudaDevice = int;  // CUdevice
using CudaContext = void*;
constexpr CudaResult kSuccess = 0;
constexpr CudaResult kOutOfMemory = 2;          // CUDA_ERROR_OUT_OF_MEMORY
constexpr unsigned int kHostAllocPortable = 1;  // CU_MEMHOSTALLOC_PORTABLE

}  // namespace

struct CudaPinnedHost::Driver {
  CudaResult (*init)(unsigned int flags) = nullptr;
  CudaResult (*device_get)(CudaDevice* device, int ordinal) = nullptr;
  CudaResult (*retain)(CudaContext* context, CudaDevice device) = nullptr;
  CudaResult (*release)(CudaDevice device) = nullptr;
  CudaResult (*push)(CudaContext context) = nullptr;
  CudaResult (*pop)(CudaContext* context) = nullptr;
  CudaResult (*host_alloc)(void** memory, std::size_t bytes, unsigned int flags) = nullptr;
  CudaResult (*host_free)(void* memory) = nullptr;
  CudaResult (*error_string)(CudaResult code, const char** text) = nullptr;

  const pid_t owner = ::getpid();
  Mutex mutex;
  CudaContext context UNSTARVE_GUARDED_BY(mutex) = nullptr;
  CudaDevice device UNSTARVE_GUARDED_BY(mutex) = 0;

  /// The name of a function that `library` lacks, or nullptr.
  const char* look_up(void* library) {
    SymbolLookup find(library);
    find("cuInit", init);
    find("cuDeviceGet", device_get);
    find("cuDevicePrimaryCtxRetain", retain);
    find("cuDevicePrimaryCtxRelease_v2", release);
    find("cuCtxPushCurrent_v2", push);
    find("cuCtxPopCurrent_v2", pop);
    find("cuMemHostAlloc", host_alloc);
    find("cuMemFreeHost", host_free);
    find("cuGetErrorString", error_string);
    return find.missing();
  }

  tl::unexpected<Error> failed(const char* call, CudaResult code) const {
    const char* text = nullptr;
    if (error_string(code, &text) != kSuccess || text == nullptr) text = "an unknown error";
    const ErrorCode kind =
        code == kOutOfMemory ? ErrorCode::kOutOfMemory : ErrorCode::kNotSupported;
    return fail(kind, "{} failed: {} ({})", call, text, code);
  }

  Result<CudaContext> context_of(int ordinal) {
    MutexLock lock(mutex);
    if (context != nullptr) return context;
    if (CudaResult code = init(0); code != kSuccess) return failed("cuInit", code);
    if (CudaResult code = device_get(&device, ordinal); code != kSuccess) {
      return failed("cuDeviceGet", code);
    }
    CudaContext retained = nullptr;
    if (CudaResult code = retain(&retained, device); code != kSuccess) {
      return failed("cuDevicePrimaryCtxRetain", code);
    }
    context = retained;
    return context;
  }

  CudaContext retained_context() noexcept {
    MutexLock lock(mutex);
    return context;
  }
};

CudaPinnedHost::CudaPinnedHost(std::unique_ptr<Driver> driver, int device)
    : driver_(std::move(driver)), device_(device) {}

Result<std::unique_ptr<CudaPinnedHost>> CudaPinnedHost::open(const Options& options) {
  // Never unloaded: the driver has threads and exit handlers of its own.
  void* library = ::dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return fail(ErrorCode::kNotFound, "cannot load CUDA's driver: {}",
                why != nullptr ? why : options.library);
  }
  auto driver = std::make_unique<Driver>();
  const char* missing = driver->look_up(library);
  ::dlclose(library);
  if (missing != nullptr) {
    return fail(ErrorCode::kNotSupported, "{} lacks {}: the driver is too old, or not CUDA's",
                options.library, missing);
  }
  return std::unique_ptr<CudaPinnedHost>(new CudaPinnedHost(std::move(driver), options.device));
}

CudaPinnedHost::~CudaPinnedHost() {
  if (::getpid() != driver_->owner) return;  // CUDA does not survive a fork
  MutexLock lock(driver_->mutex);
  // At the end of the process the driver may be gone; it then says so, and nothing is left to do.
  if (driver_->context != nullptr) driver_->release(driver_->device);
}

Result<void*> CudaPinnedHost::allocate(std::size_t bytes) {
  if (::getpid() != driver_->owner) {
    return fail(ErrorCode::kNotSupported, "CUDA cannot be used in a forked process");
  }
  const Result<CudaContext> context = driver_->context_of(device_);
  if (!context) return forward_error(context);
  if (CudaResult code = driver_->push(*context); code != kSuccess) {
    return driver_->failed("cuCtxPushCurrent", code);
  }
  void* memory = nullptr;
  const CudaResult code = driver_->host_alloc(&memory, bytes, kHostAllocPortable);
  CudaContext popped = nullptr;
  driver_->pop(&popped);  // the memory is there whatever this says
  if (code != kSuccess || memory == nullptr) return driver_->failed("cuMemHostAlloc", code);
  return memory;
}

void CudaPinnedHost::release(void* memory) noexcept {
  if (::getpid() != driver_->owner) return;
  // A context that cannot be entered is one of a driver that has shut down: the memory is its own.
  if (driver_->push(driver_->retained_context()) != kSuccess) return;
  driver_->host_free(memory);
  CudaContext popped = nullptr;
  driver_->pop(&popped);
}

std::string CudaPinnedHost::name() const { return "CUDA"; }

}  // namespace unstarve::device
