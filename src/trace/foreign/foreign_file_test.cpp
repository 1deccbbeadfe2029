#include "trace/foreign/foreign_file.h"

#include <gtest/gtest.h>

#include <string>

namespace unstarve::trace {
namespace {

using namespace std::string_literals;

const std::string kNames = "timestamp, index, utilization.gpu [%], memory.used [MiB]";
const std::string kSample = "2026/05/01 10:00:00.100, 0, 37 %, 1000 MiB";

std::string utf16(const std::string& text, bool little) {
  std::string out;
  for (const char c : text) {
    if (!little) out.push_back('\0');
    out.push_back(c);
    if (little) out.push_back('\0');
  }
  return out;
}

TEST(ForeignFile, TablesThatAreNoLogsAreTold) {
  EXPECT_EQ(recognise("a.json", "\xff\xfe"s + utf16("{\"traceEvents\": []}", true)),
            ForeignFile::kUtf16);
  EXPECT_EQ(recognise("a.csv", kSample + "\n" + kSample), ForeignFile::kLogWithoutNames);
  EXPECT_EQ(recognise("a.csv", "epoch,loss\n1,0.5\n"), ForeignFile::kOtherTable);
  EXPECT_EQ(recognise("a.csv", "epoch\tloss\n1\t0.5\n"), ForeignFile::kOtherTable);
}

TEST(ForeignFile, WhatNvidiaSmiSaysElseIsTold) {
  EXPECT_EQ(recognise("a", "Fri May  1 10:00:00 2026\n+-------+\n| NVIDIA-SMI 535.54    Driver"),
            ForeignFile::kSmiTable);
  EXPECT_EQ(recognise("a", "\n==============NVSMI LOG==============\n"), ForeignFile::kSmiQuery);
  EXPECT_EQ(recognise("a.xml", "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM"),
            ForeignFile::kSmiQuery);
  for (const char* const error :
       {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "Failed to initialize NVML: Driver/library version mismatch", "No devices were found\n",
        "Field \"utilisation.gpu\" is not a valid field to query.",
        "bash: line 1: nvidia-smi: command not found"}) {
    EXPECT_EQ(recognise("gpu.csv", error), ForeignFile::kSmiError) << error;
  }
}

TEST(ForeignFile, OtherKindsAreTold) {
  EXPECT_EQ(recognise("t.json", "\n<!DOCTYPE HTML><html>"), ForeignFile::kHtml);
  EXPECT_EQ(recognise("t.json", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"),
            ForeignFile::kLfsPointer);
  EXPECT_EQ(recognise("/a/b.nsys-rep", "whatever"), ForeignFile::kNsysReport);
  EXPECT_EQ(recognise("b.ncu-rep", "NVR\0"s), ForeignFile::kComputeReport);
  EXPECT_EQ(recognise("/a.tfevents.d/events.out.tfevents.17.host", "\x18\0"s),
            ForeignFile::kTensorboard);
  EXPECT_EQ(recognise("/a.tfevents.d/note", "hello"), ForeignFile::kText);
  EXPECT_EQ(recognise("t.tar.gz", std::string(257, 'n') + "ustar\0"s), ForeignFile::kTar);
  EXPECT_EQ(recognise("t.zip", "PK\x03\x04...trace.json"), ForeignFile::kZip);
  EXPECT_EQ(recognise("t", "PK\x03\x04...data.npy"), ForeignFile::kNumpyArchive);
  EXPECT_EQ(recognise("t.pt", "PK\x03\x04...archive/data.pkl"), ForeignFile::kCheckpoint);
  EXPECT_EQ(recognise("t", "\x93NUMPY\x01"), ForeignFile::kNumpy);
  EXPECT_EQ(recognise("t", "\x80\x04\x95"), ForeignFile::kCheckpoint);
  EXPECT_EQ(recognise("t", "\xfd\x37zXZ\0"s), ForeignFile::kCompressed);
  EXPECT_EQ(recognise("t", "epoch 1: loss 0.5\n"), ForeignFile::kText);
  EXPECT_EQ(recognise("t", "\x01\x02\x03"), ForeignFile::kBinary);
}

TEST(ForeignFile, WhatIsInTheFormOfARecordingIsNone) {
  for (const std::string& start :
       {""s, "{\"traceEvents\": ["s, " [1, 2"s, "SQLite format 3\0"s, "\x1f\x8b\x08"s, kNames,
        "WARNING: infoROM is corrupted\n" + kNames,
        "# gpu    pwr  gtemp     sm\n# Idx      W      C      %\n"s}) {
    EXPECT_EQ(recognise("t.json", start), std::nullopt) << start;
  }
}

TEST(ForeignFile, EveryBeginningOfAFileIsTakenAsItIs) {
  const std::string text = "\xff\xfe"s + utf16("epoch,loss", true);
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(recognise("t", text.substr(0, size)).has_value(), size > 0) << size;
  }
}

}  // namespace
}  // namespace unstarve::trace
