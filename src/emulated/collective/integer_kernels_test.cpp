#include "emulated/collective/integer_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace unstarve::emulated {
namespace {

using Bytes = IntegerKernel::Bytes;
using Integers = std::vector<std::int64_t>;

constexpr std::uintptr_t kSource = 0x7000'0000;
constexpr std::uintptr_t kOther = 0x7000'1000;
constexpr std::uintptr_t kTarget = 0x7000'2000;

bool is_on_device(std::uintptr_t address) { return address >= kSource && address < kTarget + 4096; }

Bytes as_bytes(const Integers& numbers) {
  Bytes bytes(numbers.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// The names that PyTorch's libraries register.
const std::string kReduce =
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIl";
const std::string kMax = kReduce + "NS0_13MaxNanFunctorIlEEEEjlLi4ELi4EEEEEvT1_";
const std::string kSum =
    kReduce + "ZNS0_11sum_functorIlllEclERNS_14TensorIteratorEEUlllE_EEjlLi4ELi4EEEEEvT1_";
const std::string kAdd =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIlEESt5arrayIPcLm3EEEEvi"
    "T0_T1_";
const std::string kAddNumber =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_21CUDAFunctorOnSelf_addIlEESt5arrayIPcLm2"
    "EEEEviT0_T1_";
const std::string kCompare =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_50_GLOBAL__N__e50ef81d_17_CompareKernels_"
    "cu_8f1b29aa14CompareFunctorIlEESt5arrayIPcLm3EEEEviT0_T1_";
const std::string kCat =
    "_ZN2at6native40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c26CatArrayBatchedCopy_contigINS1_"
    "10OpaqueTypeILj8EEEjLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadataIS5_T0_XT2_EXT3_EEENS1_"
    "16TensorSizeStrideIS8_Lj4EEEiS8_";

/// A ReduceOp over `count` integers that lie `stride` bytes apart.
std::vector<unsigned char> reduce_op(std::uint32_t count, std::uint32_t stride = 8) {
  std::vector<unsigned char> bytes(1200, 0xEE);
  const auto put = [&](std::size_t at, auto number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
  };
  put(16, std::uint32_t{8});
  put(20, count);
  put(24, std::uint32_t{1});
  put(80, std::uint32_t{1});
  put(384, stride);
  put(992, kSource);
  put(1000, kTarget);
  return bytes;
}

std::optional<IntegerKernel> read(const std::string& name, const void* const* arguments,
                                  std::uint32_t grid_y = 1) {
  const KernelWork work{.name = name, .grid = {1, grid_y, 1}, .arguments = arguments};
  return read_integer_kernel(work, is_on_device);
}

TEST(IntegerKernels, FindsTheLargestAndTheSum) {
  const std::vector<unsigned char> op = reduce_op(3);
  const void* const arguments[] = {op.data()};
  const auto kernel = read(kMax, arguments);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->inputs[0].address, kSource);
  EXPECT_EQ(kernel->inputs[0].bytes, 24U);
  EXPECT_EQ(kernel->output.address, kTarget);
  EXPECT_EQ(kernel->compute({as_bytes({4, 9, -6})}), as_bytes({9}));
  EXPECT_EQ(read(kSum, arguments)->compute({as_bytes({4, 9, -6})}), as_bytes({7}));
}

TEST(IntegerKernels, LeavesAReductionThatIsNotAsExpected) {
  const std::vector<unsigned char> strided = reduce_op(3, 16);
  const void* const arguments[] = {strided.data()};
  EXPECT_FALSE(read(kMax, arguments));
  const std::vector<unsigned char> noise(1200, 0xEE);
  const void* const others[] = {noise.data()};
  EXPECT_FALSE(read(kMax, others));
  EXPECT_FALSE(read(kMax, nullptr));
}

TEST(IntegerKernels, LeavesFloatingPoint) {
  const std::vector<unsigned char> op = reduce_op(3);
  const void* const arguments[] = {op.data()};
  EXPECT_FALSE(
      read("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfNS0_"
           "13MaxNanFunctorIfEEEEjfLi4ELi4EEEEEvT1_",
           arguments));
}

TEST(IntegerKernels, AddsAndCompares) {
  const std::int32_t count = 2;
  const std::array<std::uintptr_t, 3> addresses = {kTarget, kSource, kOther};
  const std::int64_t times = 2;
  const void* add[] = {&count, &times, addresses.data()};
  const std::vector<Bytes> inputs = {as_bytes({1, 50}), as_bytes({10, 20})};
  EXPECT_EQ(read(kAdd, add)->compute(inputs), as_bytes({21, 90}));
  const std::array<std::int64_t, 2> number = {5, 1};
  add[1] = number.data();
  EXPECT_EQ(read(kAddNumber, add)->compute({inputs[0]}), as_bytes({6, 55}));
  for (const auto& [is, expected] :
       {std::pair<std::int32_t, Bytes>{0, {0, 1}}, {1, {0, 1}}, {2, {1, 0}}, {3, {1, 0}}}) {
    add[1] = &is;
    const auto kernel = read(kCompare, add);
    EXPECT_EQ(kernel->output.bytes, 2U);
    EXPECT_EQ(kernel->compute(inputs), expected) << is;
  }
}

TEST(IntegerKernels, OtherKernelsTellWhereTheyMayWrite) {
  const std::vector<unsigned char> op = reduce_op(3);
  const void* const arguments[] = {op.data()};
  const KernelWork any{.name = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbEEvT1_",
                       .arguments = arguments};
  const std::vector<std::uintptr_t> addresses = written_by(any);
  EXPECT_NE(std::find(addresses.begin(), addresses.end(), kTarget), addresses.end());
  const std::int32_t count = 2;
  const std::array<std::uintptr_t, 2> two = {kTarget, kSource};
  const void* const elementwise[] = {&count, &count, two.data()};
  EXPECT_EQ(written_by({.name = kAddNumber, .arguments = elementwise}),
            std::vector<std::uintptr_t>{kTarget});
  EXPECT_TRUE(written_by({.name = "somebody_elses", .arguments = elementwise}).empty());
}

TEST(IntegerKernels, KnowsOlderNamesOfConcatenations) {
  const std::uintptr_t target = kTarget;
  std::vector<unsigned char> inputs(128 * 8 + 3 * 128 * 4);
  const std::uint32_t elements = 3;
  std::memcpy(inputs.data() + 2048, &elements, sizeof elements);
  const void* const arguments[] = {&target, inputs.data()};
  const std::string begins = "_ZN2at6native12_GLOBAL__N_135CatArrayBatchedCopy_aligned16_contigI";
  const std::string ends = "jLi1ELi128ELi1EEEvPT_NS1_25CatArrInputTensorMetadata";
  EXPECT_EQ(read(begins + "l" + ends, arguments)->output.bytes, 24U);
  EXPECT_EQ(read(begins + "h" + ends, arguments)->output.bytes, 3U);
  EXPECT_FALSE(read(begins + "f" + ends, arguments));
}

TEST(IntegerKernels, PutsOneBehindTheOther) {
  const std::uintptr_t target = kTarget;
  std::vector<unsigned char> inputs(128 * 8 + 3 * 128 * 4);
  const std::array<std::uintptr_t, 2> addresses = {kSource, kOther};
  const std::array<std::uint32_t, 2> offsets = {0, 1};
  const std::array<std::uint32_t, 2> elements = {1, 2};
  std::memcpy(inputs.data(), addresses.data(), sizeof addresses);
  std::memcpy(inputs.data() + 1024, offsets.data(), sizeof offsets);
  std::memcpy(inputs.data() + 1024 + 1024, elements.data(), sizeof elements);
  const void* const arguments[] = {&target, inputs.data()};
  const auto kernel = read(kCat, arguments, 2);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->inputs[1].bytes, 16U);
  EXPECT_EQ(kernel->output.bytes, 24U);
  EXPECT_EQ(kernel->compute({as_bytes({1}), as_bytes({2, 3})}), as_bytes({1, 2, 3}));
}

TEST(IntegerKernels, ComputesWhenTheKernelEnds) {
  const std::vector<unsigned char> op = reduce_op(2);
  const void* const arguments[] = {op.data()};
  const auto late = std::make_shared<Bytes>(16);
  const auto result = std::make_shared<Bytes>(8);
  const KeptPiece piece{.at = 0, .bytes = 16, .source = late, .offset = 0};
  const auto landing = make_landing(*read(kMax, arguments), {{piece}}, result);
  *late = as_bytes({3, 8});
  EXPECT_EQ(*result, as_bytes({0}));
  landing->land();
  EXPECT_EQ(*result, as_bytes({8}));
}

}  // namespace
}  // namespace unstarve::emulated
