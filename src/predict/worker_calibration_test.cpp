#include "predict/worker_calibration.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::predict {
namespace {

const std::string kWhole =
    R"({"pid": 7, "fetch_calibration": {"loader": 2, "samples": 128, "spent_ns": 4000000000,
    "measured": [
      {"workers": 1, "batches": 7, "cpu_ns": [200000000, 1000000], "wall_ns": [210000000, 2000000],
       "receive_cpu_ns": [900000, 10000], "release_cpu_ns": [2000000, 10000]},
      {"workers": 2, "batches": 14, "cpu_ns": [220000000, 3000000], "wall_ns": [240000000, 4000000],
       "receive_cpu_ns": [1000000, 10000], "release_cpu_ns": [3000000, 10000]}]}})";

/// The whole text with one part of it replaced.
std::string with(const std::string& part, const std::string& replacement) {
  std::string text = kWhole;
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), replacement);
}

TEST(WorkerCalibration, IsReadWhole) {
  const CalibrationText read = read_worker_calibration(kWhole);
  ASSERT_TRUE(read.measured.has_value());
  EXPECT_EQ(read.refused, "");
  EXPECT_EQ(read.measured->loader_id, 2);
  EXPECT_EQ(read.measured->samples, 128);
  EXPECT_EQ(read.measured->one.workers, 1);
  EXPECT_EQ(read.measured->one.batches, 7);
  EXPECT_NEAR(read.measured->one.cpu.mean_s, 0.2, 1e-12);
  EXPECT_NEAR(read.measured->one.cpu.error_s, 0.001, 1e-12);
  EXPECT_EQ(read.measured->many.workers, 2);
  EXPECT_NEAR(read.measured->many.wall.mean_s, 0.24, 1e-12);
  EXPECT_NEAR(read.measured->many.receive.mean_s, 0.001, 1e-12);
  EXPECT_NEAR(read.measured->many.release.mean_s, 0.003, 1e-12);
}

TEST(WorkerCalibration, NothingAskedForIsNothingRefused) {
  const std::string out_of_range = with("[200000000, 1000000]", "[1e400, 0]");
  for (const char* text :
       {"", "{}", "[]", "null", "{\"pid\": 3}", "\xff\xfe", "{\"fetch_cal", out_of_range.c_str()}) {
    const CalibrationText read = read_worker_calibration(text);
    EXPECT_FALSE(read.measured.has_value()) << text;
    EXPECT_EQ(read.refused, "") << text;
  }
}

TEST(WorkerCalibration, TheReasonIsKept) {
  const CalibrationText read = read_worker_calibration(
      R"({"fetch_calibration": {"loader": 0, "refused": "an iterable data set"}})");
  EXPECT_FALSE(read.measured.has_value());
  EXPECT_EQ(read.refused, "an iterable data set");
}

TEST(WorkerCalibration, DamagedNumbersAreRefused) {
  const std::string damaged[] = {
      with("\"loader\": 2", "\"loader\": -2"),
      with("\"loader\": 2", "\"loader\": 1e300"),
      with("\"samples\": 128", "\"samples\": 0"),
      with("\"samples\": 128", "\"samples\": \"128\""),
      with("\"workers\": 1", "\"workers\": 2"),
      with("\"workers\": 2", "\"workers\": 1e9"),
      with("\"batches\": 7", "\"batches\": 0"),
      with("[200000000, 1000000]", "[0, 0]"),
      with("[200000000, 1000000]", "[200000000, -1]"),
      with("[200000000, 1000000]", "[200000000]"),
      with("[240000000, 4000000]", "{}"),
      with("[240000000, 4000000]", "[null, null]"),
      with("\"receive_cpu_ns\"", "\"received\""),
      with("\"measured\"", "\"found\""),
      R"({"fetch_calibration": 3})",
      R"({"fetch_calibration": {"refused": 3}})",
      R"({"fetch_calibration": {"loader": 0, "samples": 1, "measured": []}})",
      R"({"fetch_calibration": {"loader": 0, "samples": 1, "measured": [3]}})",
      R"({"fetch_calibration": {"loader": 0, "samples": 1, "measured": [[]]}})",
  };
  for (const std::string& text : damaged) {
    const CalibrationText read = read_worker_calibration(text);
    EXPECT_FALSE(read.measured.has_value()) << text;
    EXPECT_NE(read.refused, "") << text;
  }
}

}  // namespace
}  // namespace unstarve::predict
