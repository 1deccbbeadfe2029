// Files that are no trace, damaged or cut off: an Error that says where, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "observe/import/kineto.h"

namespace unstarve::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kKernel = R"json({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1})json";

std::string trace_file(const std::string& name) {
  return std::string(UNSTARVE_SOURCE_DIR) + "/tests/data/traces/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string gzipped(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

Error error_of(const std::string& bytes) {
  const auto timeline = import_kineto_bytes(bytes, "bad.json");
  if (timeline) {
    ADD_FAILURE() << "was read";
    return Error{};
  }
  return timeline.error();
}

std::string message_of(const std::string& bytes) {
  const Error error = error_of(bytes);
  EXPECT_EQ(error.code, ErrorCode::kCorruptData) << error.message;
  EXPECT_THAT(error.message, HasSubstr("bad.json"));
  return error.message;
}

TEST(KinetoDamage, AMissingQuoteIsNotAFileCutOff) {
  const auto with_quotes = [](const std::string& name, const std::string& space) {
    return "{\"traceEvents\": [{\"ph\": \"X\"," + space + name + "," + space + "\"ts\": 1}," +
           space + "{\"ph\": \"X\", \"name\": \"b\"}" + space + "]}";
  };
  const auto whole = import_kineto_bytes(with_quotes("\"name\": \"a\"", "\n"), "t.json");
  EXPECT_TRUE(whole) << whole.error().message;
  const std::string start = "{\"traceEvents\": [{\"ph\": \"X\",";
  for (const std::string name :
       {"name\": \"a\"", "\"name: \"a\"", "\"name\": a\"", "\"name\": \"a"}) {
    for (const std::string space : {"\n", " "}) {
      const std::string message = message_of(with_quotes(name, space));
      EXPECT_THAT(message, HasSubstr("a quote is missing before what stands at byte")) << name;
    }
  }
  EXPECT_THAT(message_of(with_quotes("\"name\": \"a", "\n")),
              HasSubstr("at byte " + std::to_string(start.size() + 12)));
  EXPECT_THAT(message_of(start + "\"name\": \"a\", \"ts\": 1"), HasSubstr("is cut off"));
  EXPECT_THAT(message_of(start + "\"name\": \"a"), HasSubstr("is cut off"));
}

TEST(KinetoDamage, WhatIsNoTrace) {
  EXPECT_THAT(message_of(""), HasSubstr("empty"));
  EXPECT_THAT(message_of("  \n "), HasSubstr("cut off"));
  EXPECT_THAT(message_of("{\"a\": 1}"), HasSubstr("no traceEvents"));
  EXPECT_THAT(message_of("{}"), HasSubstr("no traceEvents"));
  EXPECT_THAT(message_of("\x7f"
                         "ELF\x02"),
              AllOf(HasSubstr("0x7f"), HasSubstr("byte 0")));
  EXPECT_THAT(message_of("[1, 2]"), AllOf(HasSubstr("expected an event"), HasSubstr("byte 1")));
  EXPECT_THAT(message_of("{\"traceEvents\": {}}"), HasSubstr("not an array at byte 16"));
  EXPECT_THAT(message_of("{\"traceEvents\": [\"a\"]}"), HasSubstr("byte 17"));
  EXPECT_THAT(message_of("{\"traceEvents\" []}"), HasSubstr("expected : at byte 15"));
  EXPECT_THAT(message_of("{\"traceEvents\": []} x"), HasSubstr("more text"));
  EXPECT_THAT(message_of("{1: 2}"), HasSubstr("name of a member"));
  EXPECT_THAT(message_of("{\"a\": , \"traceEvents\": []}"), HasSubstr("expected a value"));
}

TEST(KinetoDamage, ADamagedEventIsPlaced) {
  const std::string start = "{\"traceEvents\": [" + kKernel + ",";
  const std::string broken = R"json({"ph":"X","cat":"kernel","name" "k","ts":1,"dur":1})json";
  const std::string message = message_of(start + broken + "]}");
  const std::size_t at = std::stoul(message.substr(message.rfind(' ') + 1));
  EXPECT_GE(at, start.size());
  EXPECT_LE(at, start.size() + broken.size());
  const std::string not_utf8 = R"json({"ph":"X","cat":"kernel","name":")json"
                               "\xff\xfe"
                               R"json("})json";
  EXPECT_THAT(message_of(start + not_utf8 + "]}"), HasSubstr("UTF-8"));
  EXPECT_THAT(message_of(start + kKernel + "}]}"), HasSubstr("expected an event"));
}

TEST(KinetoDamage, FilesThatCannotBeRead) {
  const auto missing = import_kineto("/nonexistent/trace.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/trace.json"));
  const auto folder = import_kineto("/");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("directory"));
  const auto endless = import_kineto("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, HasSubstr("regular file"));
}

TEST(KinetoDamage, CompressionIsToldByContent) {
  const std::string text = "{\"traceEvents\": [" + kKernel + "]}";
  const auto timeline = import_kineto_bytes(gzipped(text), "x.json");
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->device_ops.size(), 1U);
  // Two members, as pigz and appended files have, then padding.
  const std::string members = gzipped(text.substr(0, 20)) + gzipped(text.substr(20));
  EXPECT_TRUE(import_kineto_bytes(members, "x.json"));
  EXPECT_TRUE(import_kineto_bytes(members + std::string(100, '\0'), "x.json"));
  EXPECT_THAT(message_of(members + "rest"), HasSubstr("compressed file"));
  EXPECT_EQ(error_of("\x28\xb5\x2f\xfd....").code, ErrorCode::kNotSupported);
}

TEST(KinetoDamage, PositionsSayInWhichBytesTheyCount) {
  EXPECT_THAT(message_of(gzipped("{\"traceEvents\": [1]}")), HasSubstr("decompressed byte 17"));
  std::string damaged = gzipped("{\"traceEvents\": [" + kKernel + "]}");
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);  // its CRC
  EXPECT_THAT(message_of(damaged), HasSubstr("of the compressed file"));
  EXPECT_THAT(message_of(damaged.substr(0, 20)), HasSubstr("ends at byte 20 of the compressed"));
}

/// Every prefix of `bytes` in steps of `stride` must be refused, in a sensible way.
void expect_prefixes_refused(const std::string& bytes, std::size_t stride) {
  for (std::size_t size = 0; size + 1 < bytes.size(); size += stride) {
    const auto timeline = import_kineto_bytes(std::span(bytes).first(size), "cut.json");
    ASSERT_FALSE(timeline) << "a prefix of " << size << " bytes was read";
    ASSERT_EQ(timeline.error().code, ErrorCode::kCorruptData) << timeline.error().message;
    ASSERT_THAT(timeline.error().message, HasSubstr("cut.json"));
  }
}

TEST(KinetoDamage, EveryPrefixOfASmallTraceIsRefused) {
  expect_prefixes_refused(
      R"json({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "a"}], "x": "y\"z",
          "traceEvents": [{"ph":"X","cat":"kernel","name":"k\"","ts":1.5,"dur":1,"args":{"a":[1]}},
          {"ph":"B","pid":1,"tid":1,"ts":1}], "n": 1})json",
      1);
}

TEST(KinetoDamage, PrefixesOfRealTracesAreRefused) {
  const std::string small = read_file(trace_file("triton_example_triton_example.json.gz"));
  expect_prefixes_refused(small, 1);
  const std::string amd = trace_file("amd_trace_mi250_minitoy_train_ROCm6_2_kineto.json.gz");
  expect_prefixes_refused(read_file(amd), 37);
  const std::string large =
      read_file(trace_file("resnet50_num_workers_0_worker0.1623143089861.json.gz"));
  expect_prefixes_refused(large, 120'011);
}

TEST(KinetoDamage, FlippedBytesNeverCrash) {
  const std::string good = read_file(trace_file("triton_example_triton_example.json.gz"));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
    const auto timeline = import_kineto_bytes(bad, "flipped.json");
    if (!timeline) {
      EXPECT_FALSE(timeline.error().message.empty());
    }
  }
}

TEST(KinetoDamage, HostileSizesAreBounded) {
  ImportOptions options;
  options.max_value_bytes = 4096;
  options.max_events = 10;
  options.max_name_bytes = 1000;
  const auto message = [&](const std::string& text) {
    const auto timeline = import_kineto_bytes(text, "hostile.json", options);
    return timeline ? std::string("was read") : timeline.error().message;
  };
  const std::string start = "{\"traceEvents\": [";
  EXPECT_THAT(message(start + "{\"x\":\"" + std::string(1 << 20, 'x') + "\"}]}"),
              HasSubstr("longer than"));
  std::string many;
  for (int i = 0; i < 11; ++i) many += kKernel + ",";
  EXPECT_THAT(message(start + many + "]}"), HasSubstr("more than 10"));
  const std::string deep(1 << 20, '[');
  EXPECT_THAT(message("{\"a\": " + deep), HasSubstr("cut off"));
  EXPECT_THAT(message("{\"deviceProperties\": " + deep), HasSubstr("too long"));
  EXPECT_THAT(message("{\"" + std::string(1 << 20, 'k')), HasSubstr("too long"));
  EXPECT_THAT(message(start + R"json({"ph":"X","cat":"kernel","args":{"a":)json" +
                      std::string(2000, '[') + std::string(2000, ']') + "}}]}"),
              HasSubstr("was read"));
  std::string names;
  for (int i = 0; i < 4; ++i) {
    names += R"json({"ph":"X","cat":"kernel","ts":1,"dur":1,"name":")json" +
             std::string(400, static_cast<char>('a' + i)) + "\"},";
  }
  EXPECT_THAT(message(start + names + "]}"), HasSubstr("different names"));
}

TEST(KinetoDamage, ADecompressionBombStaysSmall) {
  // 16 MiB of spaces in 16 KiB: walked over within the window.
  const std::string bomb = gzipped("{\"a\": 1" + std::string(std::size_t{16} << 20, ' ') + "}");
  EXPECT_LT(bomb.size(), 100'000U);
  EXPECT_THAT(message_of(bomb), HasSubstr("no traceEvents"));
}

TEST(Kineto, ProgressEndsAtTheWholeFile) {
  std::vector<std::uint64_t> seen;
  std::uint64_t whole = 0;
  ImportOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    seen.push_back(done);
    whole = total;
  };
  const std::string path = trace_file("nccl_parser_config_nccl_data.json.gz");
  ASSERT_TRUE(import_kineto(path, options));
  EXPECT_EQ(whole, std::filesystem::file_size(path));
  ASSERT_GT(seen.size(), 5U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), whole);
}

}  // namespace
}  // namespace unstarve::observe
