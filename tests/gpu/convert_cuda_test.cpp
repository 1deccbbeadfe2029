#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/pixels/convert_cuda.h"

namespace unstarve::kernels {
namespace {

constexpr int kImages = 5;
constexpr int kHeight = 37;
constexpr int kWidth = 51;
constexpr std::size_t kPixels = std::size_t{kHeight} * kWidth;

/// Device memory with a copy of `bytes`, freed with the object.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<std::uint8_t>& bytes) : size_(bytes.size()) {
    EXPECT_EQ(cudaMalloc(&memory_, size_), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory_, bytes.data(), size_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(memory_); }

  void* get() const { return memory_; }
  std::vector<std::uint8_t> read() const {
    std::vector<std::uint8_t> bytes(size_);
    EXPECT_EQ(cudaMemcpy(bytes.data(), memory_, size_, cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
  }

 private:
  std::size_t size_;
  void* memory_ = nullptr;
};

std::size_t value_bytes(ValueType type) {
  return type == ValueType::kUint8 ? 1 : type == ValueType::kFloat32 ? 4 : 2;
}

std::vector<std::uint8_t> by_plain(const Conversion& conversion, std::vector<std::uint8_t> pixels,
                                   const std::vector<std::uint8_t>& flips) {
  const std::size_t image_bytes = 3 * kPixels * value_bytes(conversion.type);
  std::vector<std::uint8_t> out(kImages * image_bytes);
  for (std::size_t image = 0; image < kImages; ++image) {
    std::uint8_t* first = pixels.data() + image * 3 * kPixels;
    for (std::size_t row = 0; flips[image] != 0 && row < kHeight; ++row) {
      std::uint8_t* line = first + row * 3 * kWidth;
      std::reverse(line, line + 3 * kWidth);
      for (std::size_t x = 0; x < kWidth; ++x) std::swap(line[3 * x], line[3 * x + 2]);
    }
    convert_pixels_plain(conversion, first, kPixels, out.data() + image * image_bytes);
  }
  return out;
}

TEST(ConvertCuda, AgreesWithThePlainOneToTheBit) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no CUDA device";
  }
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels(kImages * 3 * kPixels);
  for (auto& byte : pixels) byte = static_cast<std::uint8_t>(random() >> 9);
  const std::vector<std::uint8_t> flips = {0, 1, 1, 0, 1};
  const OnDevice device_pixels(pixels);
  const OnDevice device_flips(flips);
  const CudaImages images{static_cast<const std::uint8_t*>(device_pixels.get()),
                          static_cast<const std::uint8_t*>(device_flips.get()), kImages, kHeight,
                          kWidth};
  for (const ValueType type :
       {ValueType::kUint8, ValueType::kFloat32, ValueType::kFloat16, ValueType::kBfloat16}) {
    for (const ValueScale scale : {ValueScale::kNone, ValueScale::kDivide, ValueScale::kMultiply}) {
      for (const int choice : {0, 1, 2, 3}) {
        const Conversion conversion{
            type,        choice % 2 == 1,          scale,
            choice >= 2, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
        const std::vector<std::uint8_t> expected = by_plain(conversion, pixels, flips);
        const OnDevice out(std::vector<std::uint8_t>(expected.size(), 77));
        ASSERT_EQ(convert_images_cuda(conversion, images, out.get(), nullptr), 0);
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(out.read(), expected) << static_cast<int>(type) << " " << choice;
      }
    }
  }
}

}  // namespace
}  // namespace unstarve::kernels
