// What the test calls of the conversion kernel, with plain arguments.
#include "kernels/pixels/convert_cuda.h"

extern "C" __attribute__((visibility("default"))) int launch_convert(int type, int count,
                                                                     int height, int width,
                                                                     const void* pixels, void* out,
                                                                     void* stream) {
  using namespace unstarve::kernels;
  const Conversion conversion{static_cast<ValueType>(type), true,
                              ValueScale::kDivide,          true,
                              {0.485F, 0.456F, 0.406F},     {0.229F, 0.224F, 0.225F}};
  const CudaImages images{static_cast<const std::uint8_t*>(pixels), nullptr, count, height, width};
  return convert_images_cuda(conversion, images, out, stream);
}
