#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "roofline/roofs/gemm/cpu_peak.h"
#include "roofline/roofs/gemm/gemm_roofs.h"
#include "roofline/roofs/gemm/torch_gemm.h"
#include "roofline/roofs/interpreter/testing/fake_interpreter.h"

namespace unstarve::roofline {
namespace {

using ::testing::HasSubstr;

Machine machine_with(std::vector<std::string> flags, int family = 6, std::string vendor = "Intel") {
  Machine machine;
  machine.cpu_flags = std::move(flags);
  machine.cpu_family = family;
  machine.cpu_vendor = std::move(vendor);
  machine.threads = 2;
  return machine;
}

TEST(CpuPeak, OfEachKindOfCpu) {
  const Machine sapphire_rapids = machine_with({"avx512f", "avx512_bf16", "amx_bf16"});
  EXPECT_EQ(*flops_per_cycle(sapphire_rapids, "float32"), 64);
  EXPECT_EQ(*flops_per_cycle(sapphire_rapids, "bfloat16"), 1024);
  const Machine zen4 = machine_with({"avx512f", "avx512_bf16"}, 25, "AuthenticAMD");
  EXPECT_EQ(*flops_per_cycle(zen4, "float32"), 32);
  EXPECT_EQ(*flops_per_cycle(zen4, "bfloat16"), 64);
  const Machine zen5 = machine_with({"avx512f", "avx512_bf16"}, 26, "AuthenticAMD");
  EXPECT_EQ(*flops_per_cycle(zen5, "bfloat16"), 128);
  const Machine haswell = machine_with({"avx2", "fma"});
  EXPECT_EQ(*flops_per_cycle(haswell, "float32"), 32);
  EXPECT_FALSE(flops_per_cycle(haswell, "bfloat16"));
  EXPECT_FALSE(has_bfloat16(haswell));
  EXPECT_FALSE(flops_per_cycle(machine_with({}), "float32"));
}

TEST(CpuPeak, TheClockIsWhatTheKernelSays) {
  const TestFolder root;
  const std::string folder = root.path() + "/sys/devices/system/cpu/cpu0/cpufreq";
  std::filesystem::create_directories(folder);
  EXPECT_FALSE(highest_clock_hz(host::HostFiles(root.path())));
  std::ofstream(folder + "/cpuinfo_max_freq") << "3700000\n";
  EXPECT_EQ(*highest_clock_hz(host::HostFiles(root.path())), 3.7e9);
}

TEST(CpuGemm, AValueAboveWhatTheCpuCanDoIsRefused) {
  const TestFolder root;
  const std::string folder = root.path() + "/sys/devices/system/cpu/cpu0/cpufreq";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/cpuinfo_max_freq") << "1000000\n";  // 2 cores: 64 GFLOP/s
  const std::string python = testing::fake_interpreter(root, R"(
echo '{"dtype": "float32", "flop_per_s": [6e10, 5e10], "shape": [1, 2, 3], "torch": "2"}'
)");
  SteadyClock clock;
  Session session(clock, {});
  const Machine machine = machine_with({"avx2", "fma"});
  measure_cpu_gemm(machine, host::HostFiles(root.path()), python, 1'000'000, session);
  ASSERT_EQ(session.result().roofs.size(), 1U);
  EXPECT_EQ(session.result().roofs[0].value, 6e10);
  EXPECT_EQ(session.result().absent[0].name, "gemm.cpu.bfloat16");

  const std::string dreamer = testing::fake_interpreter(root, R"(
echo '{"dtype": "float32", "flop_per_s": [7e12], "shape": [1, 2, 3], "torch": "2"}'
)");
  Session refused(clock, {});
  measure_cpu_gemm(machine, host::HostFiles(root.path()), dreamer, 1'000'000, refused);
  EXPECT_TRUE(refused.result().roofs.empty());
  EXPECT_THAT(refused.result().absent.back().reason, HasSubstr("refused as wrong"));
}

TEST(TorchGemm, WhateverTheInterpreterDoesIsSaidByName) {
  const TestFolder folder;
  SteadyClock clock;
  Session session(clock, {});
  TorchGemmOptions options;
  options.dtypes = {"float32"};
  const auto error_of = [&](const std::string& python) {
    options.python = python;
    const auto gemms = run_torch_gemm(options, session);
    return gemms ? std::string("none") : gemms.error().message;
  };
  EXPECT_THAT(error_of("/nowhere/python"), HasSubstr("/nowhere/python"));
  EXPECT_THAT(error_of(testing::fake_interpreter(folder, "exit 7\n")),
              HasSubstr("ended with status 7"));
  EXPECT_THAT(error_of(testing::fake_interpreter(folder, "echo hello\n")),
              HasSubstr("nobody asked for"));
  EXPECT_THAT(
      error_of(testing::fake_interpreter(folder, "echo '{\"error\": \"no torch here\"}'\n")),
      HasSubstr("no torch here"));
}

TEST(TorchGemm, AKindOfNumberThatCrashesCostsNoOther) {
  const TestFolder folder;
  SteadyClock clock;
  Session session(clock, {});
  TorchGemmOptions options;
  options.dtypes = {"float32", "bfloat16", "float16"};
  options.python = testing::fake_interpreter(folder, R"(
shift 5
for dtype in "$@"; do
  [ "$dtype" = bfloat16 ] && kill -ILL $$
  echo "{\"dtype\": \"$dtype\", \"flop_per_s\": [7e12], \"shape\": [1, 2, 3], \"torch\": \"2\"}"
done
)");
  const auto gemms = run_torch_gemm(options, session);
  ASSERT_TRUE(gemms) << gemms.error().message;
  ASSERT_EQ(gemms->size(), 3U);
  EXPECT_EQ((*gemms)[0].why_not, "");
  EXPECT_EQ((*gemms)[1].why_not,
            "torch was ended by signal 4 in it: this machine refuses an instruction");
  EXPECT_EQ((*gemms)[2].dtype, "float16");
  EXPECT_EQ((*gemms)[2].flop_per_s, std::vector<double>{7e12});
}

TEST(TorchGemm, EndsWhereSomebodyAsksToStop) {
  const TestFolder folder;
  SteadyClock clock;
  Session session(clock, {.stopped = [] { return true; }, .doing = {}});
  TorchGemmOptions options;
  options.python = testing::fake_interpreter(folder, "sleep 1000\n");
  options.dtypes = {"float32"};
  const auto gemms = run_torch_gemm(options, session);
  ASSERT_TRUE(gemms);
  EXPECT_TRUE(gemms->empty());
}

}  // namespace
}  // namespace unstarve::roofline
