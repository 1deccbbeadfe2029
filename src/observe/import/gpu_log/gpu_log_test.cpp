#include "observe/import/gpu_log/gpu_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/testing/test_folder.h"

namespace unstarve::observe {
namespace {

GpuLog read_log(const std::string& text) {
  auto log = import_gpu_log_bytes(text, "gpu.csv");
  EXPECT_TRUE(log) << log.error().message;
  return log ? *std::move(log) : GpuLog();
}

TEST(GpuLog, AQueryWithUnits) {
  const GpuLog log = read_log(
      "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], "
      "power.draw [W], clocks.current.sm [MHz], clocks_throttle_reasons.active\r\n"
      "2024/02/29 23:59:59.500, 0, NVIDIA A100-SXM4-40GB, 45 %, 1024 MiB, 40960 MiB, 210.50 W, "
      "1410 MHz, 0x0000000000000004\r\n"
      "2024/03/01 00:00:00.500, 0, NVIDIA A100-SXM4-40GB, 55 %, 1024 MiB, 40960 MiB, [N/A], "
      "1410 MHz, 0x0000000000000020\r\n"
      "2024/03/01 00:00:00.501, 1, NVIDIA A100-SXM4-40GB, 99 %, 0 MiB, 40960 MiB, 60.00 W, 210 "
      "MHz, 0x0000000000000001\r\n");
  ASSERT_EQ(log.gpus.size(), 2U);
  const LoggedGpu& gpu = log.gpus[0];
  EXPECT_EQ(gpu.name, "NVIDIA A100-SXM4-40GB");
  ASSERT_EQ(gpu.samples.size(), 2U);
  EXPECT_DOUBLE_EQ(*gpu.samples[0].utilisation, 0.45);
  EXPECT_DOUBLE_EQ(*gpu.samples[0].memory_used, 1024.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(*gpu.samples[0].power_w, 210.5);
  EXPECT_FALSE(gpu.samples[1].power_w);
  EXPECT_TRUE(*gpu.samples[0].held_by_power);
  EXPECT_FALSE(*gpu.samples[0].held_by_heat);
  EXPECT_TRUE(*gpu.samples[1].held_by_heat);
  EXPECT_FALSE(*log.gpus[1].samples[0].held_by_power);
  ASSERT_TRUE(span_of(gpu));
  EXPECT_EQ((*span_of(gpu)).duration_ns(), 1'000'000'000);
  EXPECT_EQ(log.lines_lost, 0);
}

TEST(GpuLog, AQueryWithoutUnitsThatWasCutOff) {
  const GpuLog log = read_log(
      "utilization.gpu [%], clocks_event_reasons.sw_thermal_slowdown, "
      "clocks_event_reasons.hw_thermal_slowdown\n"
      "45, Not Active, Active\n7, Not Active, Not Active\n9, Not Ac");
  ASSERT_EQ(log.gpus.size(), 1U);
  ASSERT_EQ(log.gpus[0].samples.size(), 2U);
  EXPECT_TRUE(*log.gpus[0].samples[0].held_by_heat);
  EXPECT_FALSE(*log.gpus[0].samples[1].held_by_heat);
  EXPECT_FALSE(span_of(log.gpus[0]));
  EXPECT_EQ(log.lines_lost, 1);
}

TEST(GpuLog, DmonRepeatsItsNames) {
  const std::string names =
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem  pviol  tviol     fb\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %   bool     MB\n";
  const GpuLog log =
      read_log(names +
               " 20240301   12:00:00      0     59     35      -     10      0      0"
               "      0   1000\n" +
               names +
               " 20240301   12:00:01      0     61     35      -     90      0     20"
               "      0   1000\n");
  ASSERT_EQ(log.gpus.size(), 1U);
  ASSERT_EQ(log.gpus[0].samples.size(), 2U);
  const GpuLogSample& sample = log.gpus[0].samples[1];
  EXPECT_DOUBLE_EQ(*sample.utilisation, 0.9);
  EXPECT_DOUBLE_EQ(*sample.power_w, 61);
  EXPECT_TRUE(*sample.held_by_power);
  EXPECT_FALSE(*sample.held_by_heat);
  EXPECT_EQ((*span_of(log.gpus[0])).duration_ns(), 1'000'000'000);
}

TEST(GpuLog, DmonGoesOnBehindMidnight) {
  std::string text = "#Time gpu sm\n#HH:MM:SS Idx %\n";
  for (const char* const time : {"23:59:57", "23:59:58", "23:59:59", "00:00:00", "00:00:01"}) {
    text += std::string(" ") + time + " 0 90\n";
    text += std::string(" ") + time + " 1 10\n";
  }
  const GpuLog log = read_log(text);
  ASSERT_EQ(log.gpus.size(), 2U);
  for (const LoggedGpu& gpu : log.gpus) {
    ASSERT_TRUE(span_of(gpu));
    EXPECT_EQ((*span_of(gpu)).duration_ns(), 4'000'000'000) << gpu.index;
  }
}

std::string in_utf16(const std::string& text, bool little) {
  std::string out;
  for (const char c : text) {
    if (!little) out += '\0';
    out += c;
    if (little) out += '\0';
  }
  return out;
}

TEST(GpuLog, OtherFormsOfTheSameLogSayTheSame) {
  using namespace std::string_literals;
  const std::string plain =
      "timestamp, index, name, utilization.gpu [%], power.draw [W]\r\n"
      "2026/05/01 10:00:00.100, 0, NVIDIA A100, 95 %, 120.5 W\r\n";
  const std::string semicolons =
      "timestamp; index; name; utilization.gpu [%]; power.draw [W]\n"
      "2026/05/01 10:00:00.100; 0; NVIDIA A100; 95 %; 120,5 W\n";
  const std::string quoted =
      "\"timestamp\",\"index\",\"name\",\"utilization.gpu [%]\",\"power.draw [W]\"\n"
      "\"2026/05/01 10:00:00.100\",\"0\",\"NVIDIA, A100\",\"95 %\",\"120.5 W\"\n";
  for (const std::string& text : {plain, semicolons, quoted, "\xFF\xFE"s + in_utf16(plain, true),
                                  "\xFE\xFF"s + in_utf16(plain, false), in_utf16(plain, true),
                                  in_utf16(plain, false), "\xEF\xBB\xBF" + plain}) {
    const GpuLog log = read_log(text);
    ASSERT_EQ(log.gpus.size(), 1U) << text;
    ASSERT_EQ(log.gpus[0].samples.size(), 1U) << text;
    const GpuLogSample& sample = log.gpus[0].samples[0];
    EXPECT_TRUE(sample.t_ns) << text;
    EXPECT_DOUBLE_EQ(sample.utilisation.value_or(0), 0.95) << text;
    EXPECT_DOUBLE_EQ(sample.power_w.value_or(0), 120.5) << text;
    EXPECT_EQ(log.gpus[0].name, text == quoted ? "NVIDIA, A100" : "NVIDIA A100");
    EXPECT_EQ(log.lines_lost, 0) << text;
  }
}

TEST(GpuLog, NamesThatComeAgainAreNoSample) {
  const std::string names = "utilization.gpu [%], memory.used [MiB]\n";
  const GpuLog log = read_log(names + "5 %, 10 MiB\n" + names + "7 %, 10 MiB\n");
  ASSERT_EQ(log.gpus.size(), 1U);
  EXPECT_EQ(log.gpus[0].samples.size(), 2U);
}

TEST(GpuLog, AGpuThatIsLostIsSaid) {
  const std::string lost =
      "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system";
  const GpuLog log =
      read_log("index, utilization.gpu [%]\n0, 5 %\n" + lost + "\r\n" + lost + "\n0, 6 %\ncut o\n");
  ASSERT_EQ(log.faults.size(), 1U);
  EXPECT_EQ(log.faults[0].words, lost);
  EXPECT_EQ(log.faults[0].lines, 2);
  EXPECT_EQ(log.lines_lost, 1);
}

TEST(GpuLog, OtherTextsAreErrorsThatNameTheFile) {
  for (const char* const text :
       {"", "a,b,c\n1,2,3\n", "utilization.gpu [%]\n",
        "# gpu  pid type sm\n# Idx # C/G %\n 0 1234 C 45\n", "{\"utilization.gpu\": 1}"}) {
    const std::string bytes = text;
    const auto log = import_gpu_log_bytes(bytes, "gpu.csv");
    ASSERT_FALSE(log) << text;
    EXPECT_EQ(log.error().code, ErrorCode::kCorruptData);
    EXPECT_NE(log.error().message.find("gpu.csv"), std::string::npos);
  }
  const std::string endless(200'000, 'x');
  EXPECT_FALSE(import_gpu_log_bytes(endless, "gpu.csv"));
}

TEST(GpuLog, IsToldByItsContent) {
  const TestFolder folder;
  const auto recognized = [&folder](const std::string& text) {
    const std::string path = folder.path() + "/file.json";
    std::ofstream(path) << text;
    return is_gpu_log(path);
  };
  EXPECT_TRUE(recognized("index, utilization.gpu [%]\n0, 5 %\n"));
  EXPECT_TRUE(recognized("# gpu    pwr  gtemp  mtemp     sm\n# Idx      W      C      C      %\n"));
  EXPECT_FALSE(recognized("{\"traceEvents\": [\"utilization.gpu, memory.used\"]}"));
  EXPECT_FALSE(recognized("epoch,loss\n1,2\n"));
  EXPECT_FALSE(is_gpu_log(folder.path()));
}

}  // namespace
}  // namespace unstarve::observe
