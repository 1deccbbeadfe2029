// The CUDA kernel's source with the host's side of what nvcc makes of it: kernels are registered by
// the address that is launched, under their mangled names. Their bodies never run.
#include "kernels/pixels/convert_cuda.cu"

namespace unstarve::kernels {
namespace {

constexpr const char* kPrefix = "_ZN8unstarve7kernels12_GLOBAL__N_17convertI";

struct Registered {
  Registered() {
    static int image = 0;
    handle = __cudaRegisterFatBinary(&image);
    add(&convert<std::uint8_t>, "hEEvNS1_10ArithmeticENS0_10CudaImagesEPT_");
    add(&convert<float>, "fEEvNS1_10ArithmeticENS0_10CudaImagesEPT_");
    add(&convert<__half>, "6__halfEEvNS1_10ArithmeticENS0_10CudaImagesEPT_");
    add(&convert<__nv_bfloat16>, "13__nv_bfloat16EEvNS1_10ArithmeticENS0_10CudaImagesEPT_");
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Registered() { __cudaUnregisterFatBinary(handle); }

  template <class Kernel>
  void add(Kernel* kernel, const char* rest) {
    names[count] = std::string(kPrefix) + rest;
    char* const name = names[count++].data();
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(kernel), name, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }

  void** handle = nullptr;
  std::string names[4];
  int count = 0;
} registered;

}  // namespace
}  // namespace unstarve::kernels
