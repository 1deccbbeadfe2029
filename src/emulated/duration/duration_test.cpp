#include <gtest/gtest.h>

#include <vector>

#include "emulated/duration/duration_model.h"
#include "emulated/duration/kernel_name.h"

namespace unstarve::emulated {
namespace {

constexpr const char* kAddKernel =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
constexpr const char* kWhere =
    "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
    "where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() const::"
    "{lambda(bool, c10::Half, c10::Half)#1}, std::array<char*, 4ul> >(int, int)";

Profile a100() { return *find_profile("a100"); }

double tflops(const MatmulWork& work, double ns) {
  return 2.0 * static_cast<double>(work.m * work.n * work.k * work.batch) / ns / 1e3;
}

TEST(KernelName, IsTakenApart) {
  const KernelName name(kAddKernel);
  EXPECT_EQ(name.base(), "vectorized_elementwise_kernel");
  ASSERT_EQ(name.template_arguments().size(), 3U);
  EXPECT_EQ(name.template_arguments()[1], "at::native::CUDAFunctor_add<float>");
  ASSERT_EQ(name.parameters().size(), 3U);
  EXPECT_EQ(name.parameters()[0], "int");
  const KernelName nested(
      "void at::native::(anonymous namespace)::max_pool<float, int>(int, float const*)");
  EXPECT_EQ(nested.base(), "max_pool");
  EXPECT_EQ(nested.parameters()[1], "float const*");
  EXPECT_EQ(KernelName("_Z3addPfi").base(), "add");
  EXPECT_EQ(KernelName("triton_poi_fused_0").base(), "triton_poi_fused_0");
}

TEST(KernelName, TakesAnyText) {
  for (const char* text : {"", "<", ">", "((((", "a<b", "a>b<c", ")(", "::", "_Z", "_ZN", " ",
                           "a b c", "x<(){}[]>::y", "f(a,,b)"}) {
    const KernelName name(text);
    for (const auto part : name.parameters()) EXPECT_FALSE(part.empty());
    classify_kernel(text);
  }
  classify_kernel(std::string(200'000, '<'));
}

TEST(KernelClass, CountsOperandsAndTypes) {
  EXPECT_EQ(classify_kernel(kAddKernel).bytes_per_item, 12);
  EXPECT_EQ(classify_kernel(kWhere).bytes_per_item, 1 + 2 + 2 + 2);
  EXPECT_EQ(classify_kernel("void at::native::unrolled_elementwise_kernel<at::native::f(int)::"
                            "{lambda(float)#1}, std::array<char*, 2ul>, 4, X, Y, "
                            "at::native::memory::LoadWithCast<1>, Z>(int, int)")
                .bytes_per_item,
            6);
  EXPECT_EQ(classify_kernel("f(float*, c10::Half const*, int)").bytes_per_item, 6);
}

TEST(KernelClass, KnowsOurOwnConversion) {
  const std::string mangled = "_ZN8unstarve7kernels12_GLOBAL__N_17convertI";
  const std::string parameters = "EEvNS1_10ArithmeticENS0_10CudaImagesEPT_";
  EXPECT_EQ(classify_kernel(mangled + "f" + parameters).bytes_per_item, 3 * (1 + 4));
  EXPECT_EQ(classify_kernel(mangled + "h" + parameters).bytes_per_item, 3 * (1 + 1));
  EXPECT_EQ(classify_kernel(mangled + "6__half" + parameters).bytes_per_item, 3 * (1 + 2));
  EXPECT_EQ(classify_kernel("convert<float>(float*, int)").bytes_per_item, 4) << "of others";
}

TEST(KernelClass, ReadsTheCountFromTheArguments) {
  const KernelClass kernel = classify_kernel(kAddKernel);
  KernelWork work;
  work.grid = {1000, 1, 1};
  work.block = {128, 1, 1};
  EXPECT_EQ(items_of(kernel, work), 1000.0 * 128 * 4);
  int count = 999'999;
  const std::vector<const void*> arguments = {&count};
  work.arguments = arguments.data();
  EXPECT_EQ(items_of(kernel, work), 999'999);
  count = -1;
  EXPECT_EQ(items_of(kernel, work), 1000.0 * 128 * 4);
}

TEST(KernelClass, FindsAReductionsSizeInItsConfiguration) {
  const KernelClass kernel = classify_kernel(
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, F, unsigned int, "
      "c10::Half, 4, 4> >(at::native::ReduceOp<c10::Half, F, unsigned int, c10::Half, 4, 4>)");
  EXPECT_EQ(kernel.bytes_per_item, 2);
  KernelWork work;
  work.grid = {256, 4, 1};
  work.block = {32, 16, 1};
  std::vector<std::int32_t> operation(64, 0);
  const std::vector<std::int32_t> config = {4, 5000, 256, 1, 1, 4, 1, 32, 0, 0, 0, 32, 16, 512};
  std::copy(config.begin(), config.end(), operation.begin() + 2);
  const std::vector<const void*> arguments = {operation.data()};
  work.arguments = arguments.data();
  EXPECT_EQ(items_of(kernel, work), 5000.0 * 256);
  operation[2 + 11] = 64;  // another block's shape: no configuration
  EXPECT_EQ(items_of(kernel, work), 256.0 * 4 * 512 * 4);
}

TEST(DurationModel, MemoryBoundKernelsTakeTheirBytes) {
  const auto model = DurationModel::create(a100());
  KernelWork work;
  work.name = kAddKernel;
  work.block = {128, 1, 1};
  work.grid = {1U << 20, 1, 1};
  const double bytes = 1048576.0 * 128 * 4 * 12;
  EXPECT_NEAR(static_cast<double>(model->duration_ns(work)), bytes / (2039 * 0.87) + 1500, 2e4);
  work.grid = {1, 1, 1};
  EXPECT_LT(model->duration_ns(work), 3'000);
  EXPECT_GE(model->duration_ns(work), 1'500);
}

TEST(DurationModel, ShareIsThePartOfTheDevice) {
  const auto model = DurationModel::create(a100());
  KernelWork work;
  work.name = "f";
  work.block = {1024, 1, 1};
  work.grid = {108, 1, 1};
  EXPECT_DOUBLE_EQ(model->share(work), 0.5);
  work.grid = {10'000, 1, 1};
  EXPECT_DOUBLE_EQ(model->share(work), 1);
}

TEST(DurationModel, LargeProductsComeNearTheirRate) {
  const auto model = DurationModel::create(a100());
  MatmulWork work;
  work.m = work.n = work.k = 8192;
  work.input = work.output = NumberType::kF16;
  const double half = tflops(work, static_cast<double>(model->duration_ns(work)));
  EXPECT_GT(half, 225);
  EXPECT_LT(half, 275);
  work.input = work.output = NumberType::kF32;
  const double plain = tflops(work, static_cast<double>(model->duration_ns(work)));
  EXPECT_GT(plain, 16);
  EXPECT_LT(plain, 19.5);
  work.tf32 = true;
  EXPECT_GT(tflops(work, static_cast<double>(model->duration_ns(work))), 110);
}

TEST(DurationModel, SmallOrSlimProductsDoNot) {
  const auto model = DurationModel::create(a100());
  MatmulWork work;
  work.m = work.n = work.k = 256;
  work.input = work.output = NumberType::kF16;
  EXPECT_LT(tflops(work, static_cast<double>(model->duration_ns(work))), 40);
  work.n = 1;
  work.m = work.k = 16384;  // a vector: the matrix is read once
  EXPECT_NEAR(static_cast<double>(model->duration_ns(work)), 2.0 * 16384 * 16384 / 1500, 60e3);
  const std::int64_t aligned =
      model->duration_ns(MatmulWork{4096, 4096, 4096, 1, NumberType::kF16});
  EXPECT_GT(model->duration_ns(MatmulWork{4097, 4096, 4096, 1, NumberType::kF16}), aligned * 5 / 4);
}

TEST(DurationModel, ConvolutionsOfResnetTakeWhatTheyShould) {
  const auto model = DurationModel::create(a100());
  ConvolutionWork work;
  work.batch = 256;
  work.input_channels = work.output_channels = 256;
  work.input = work.output = {14, 14, 1};
  work.filter = {3, 3, 1};
  work.type = NumberType::kF16;
  work.channels_last = true;
  const double flops = 2.0 * 256 * 196 * 256 * 256 * 9;
  const double rate = flops / static_cast<double>(model->duration_ns(work)) / 1e3;
  EXPECT_GT(rate, 130);
  EXPECT_LT(rate, 240);
  const std::int64_t last = model->duration_ns(work);
  work.channels_last = false;
  EXPECT_GT(model->duration_ns(work), last);
  work.groups = 256;  // depthwise: a 256th of the products, but not of the time
  EXPECT_GT(model->duration_ns(work), last / 16);
}

TEST(DurationModel, AnySizeGivesADuration) {
  const auto model = DurationModel::create(a100());
  EXPECT_GT(model->duration_ns(MatmulWork{}), 0);
  EXPECT_GT(model->duration_ns(MatmulWork{1LL << 60, 1LL << 60, 1LL << 60}), 0);
  EXPECT_GT(model->duration_ns(MatmulWork{-5, 3, -1}), 0);
  ConvolutionWork convolution;
  convolution.groups = 0;
  convolution.stride = {0, 0, 0};
  convolution.batch = -7;
  EXPECT_GT(model->duration_ns(convolution), 0);
  OtherWork other;
  other.bytes = -1;
  EXPECT_GT(model->duration_ns(other), 0);
}

TEST(DurationModel, AScaleMultipliesAll) {
  const auto once = DurationModel::create(a100());
  const auto twice = DurationModel::create(a100(), nullptr, 2);
  const MatmulWork work{1024, 1024, 1024};
  EXPECT_NEAR(static_cast<double>(twice->duration_ns(work)),
              2.0 * static_cast<double>(once->duration_ns(work)), 2);
}

TEST(DurationModel, WhatWasRecordedComesFirst) {
  Recording recording;
  recording.source = "trace.json.gz";
  recording.kernels.push_back({kAddKernel, {{{10, 1, 1}, {128, 1, 1}, 7000, 3}}});
  MatmulWork product{64, 32, 16};
  recording.matmuls.push_back({product, 9000, 2});
  ConvolutionWork convolution;
  convolution.input_channels = 3;
  recording.convolutions.push_back({convolution, 11000, 1});
  const Result<Recording> read = parse_recording(format_recording(recording));
  ASSERT_TRUE(read) << read.error().message;
  const auto model = DurationModel::create(a100(), DurationTable::create(*read));
  KernelWork work;
  work.name = kAddKernel;
  work.grid = {10, 1, 1};
  work.block = {128, 1, 1};
  EXPECT_EQ(model->estimate(work).ns, 7000);
  EXPECT_EQ(model->estimate(work).source, DurationSource::kRecorded);
  work.grid = {11, 1, 1};
  EXPECT_EQ(model->estimate(work).source, DurationSource::kRoofline);
  std::swap(product.m, product.n);  // the transpose
  EXPECT_EQ(model->estimate(product).ns, 9000);
  EXPECT_EQ(model->estimate(convolution).ns, 11000);
  convolution.pass = ConvolutionPass::kWeightGradient;
  EXPECT_EQ(model->estimate(convolution).source, DurationSource::kRoofline);
}

TEST(Recording, RefusesWhatIsDamaged) {
  const auto with = [](const char* kernels) {
    return std::string(R"({"format": "unstarve-gpu-durations", "version": 1, "source": "s",
        "device": "d", "matmuls": [], "convolutions": [], "kernels": )") +
           kernels + "}";
  };
  EXPECT_TRUE(parse_recording(with(R"([{"name": "f", "launches": [[1,1,1,1,1,1,5,1]]}])")));
  for (const char* kernels :
       {"3", "[3]", "[{}]", R"([{"name": 3, "launches": []}])", R"([{"name": "f"}])",
        R"([{"name": "f", "launches": [[1,1,1,1,1,1,5]]}])",
        R"([{"name": "f", "launches": [[0,1,1,1,1,1,5,1]]}])",
        R"([{"name": "f", "launches": [[1,1,1,1,1,1,-5,1]]}])",
        R"([{"name": "f", "launches": [["a",1,1,1,1,1,5,1]]}])"}) {
    EXPECT_FALSE(parse_recording(with(kernels))) << kernels;
  }
  EXPECT_FALSE(parse_recording(""));
  EXPECT_FALSE(parse_recording("{}"));
}

}  // namespace
}  // namespace unstarve::emulated
