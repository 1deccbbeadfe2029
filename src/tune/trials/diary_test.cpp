#include "tune/trials/diary.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>

#include "tune/trials/job_trials.h"

namespace unstarve::tune {
namespace {

constexpr const char* kWhole =
    R"({"applied": ["threads"], "refused": {"compile": "no compiler"}, "steps": 40,
        "backwards": 80, "called_with": 16, "input_numbers": 448,
        "why_not": {"threads": null, "compile": "no compiler"}, 
        "job": {"device": "cpu", "threads": 2},
        "peak_memory_bytes": 1000, "losses": [2.5, null], "gradients": [1.0], "rows": [4],
        "graphs": [[1, 1]], "error": null, "last_loss": 2.1})";

Ending ending(const ProcessEnd& end, const std::string& diary,
              const std::vector<std::string>& wanted = {}) {
  return classify(end, parse_diary(diary), wanted).ending;
}

ProcessEnd exited(int code, const std::string& output = "") {
  ProcessEnd end;
  end.exit_code = code;
  end.last_output = output;
  return end;
}

TEST(Diary, IsReadWhole) {
  const Diary diary = parse_diary(kWhole);
  EXPECT_TRUE(diary.found);
  EXPECT_EQ(diary.applied.count("threads"), 1U);
  EXPECT_EQ(diary.steps, 40);
  EXPECT_EQ(diary.facts.backwards_per_step, 2);
  EXPECT_EQ(diary.facts.samples_per_step, 16);
  EXPECT_TRUE(diary.facts.samples_are_rows);
  EXPECT_EQ(diary.facts.input_numbers, 448);
  EXPECT_EQ(diary.facts.device, "cpu");
  EXPECT_TRUE(diary.facts.surveyed);
  EXPECT_EQ(diary.facts.why_not.count("threads"), 0U);
  EXPECT_EQ(diary.facts.why_not.at("compile"), "no compiler");
  EXPECT_EQ(diary.facts.losses.size(), 2U);
  EXPECT_FALSE(diary.loss_not_finite);
}

TEST(Diary, WhatClassesWereConstructedWithIsReadOrSaidToBeUnknown) {
  const auto found =
      parse_diary(R"({"arguments": {"DataLoader.batch_size": {"value": 8, "place": "train.py:4"},
          "Trainer.accumulate_grad_batches": {"why_not": "the job made no Trainer"},
          "A.b": {"value": "8"}, "A.c": {"value": -3}, "A.d": 5, "A.e": {}}})")
          .facts.constructed;
  EXPECT_EQ(found.at("DataLoader.batch_size").value, 8);
  EXPECT_EQ(found.at("DataLoader.batch_size").place, "train.py:4");
  EXPECT_EQ(found.at("DataLoader.batch_size").why_not, "");
  EXPECT_EQ(found.at("Trainer.accumulate_grad_batches").why_not, "the job made no Trainer");
  for (const char* odd : {"A.b", "A.c", "A.e"}) EXPECT_NE(found.at(odd).why_not, "") << odd;
  EXPECT_EQ(found.count("A.d"), 0U);
  EXPECT_TRUE(parse_diary(R"({"arguments": [1]})").facts.constructed.empty());
}

TEST(Diary, OfCallsTheMedianAndTheSlowestAreTold) {
  std::string calls;
  for (int i = 100; i >= 1; --i)
    calls += fmt::format("{}0.0{:02}", calls.empty() ? "" : ", ", i % 100);
  // 1 to 99 ms, and one that took no time at all, which no call does.
  const Latency latency = parse_diary("{\"latencies\": [" + calls + "]}").facts.latency;
  EXPECT_EQ(latency.calls, 99);
  EXPECT_DOUBLE_EQ(latency.median_s, 0.050);
  EXPECT_DOUBLE_EQ(latency.p95_s, 0.095);  // 95 % of 99 calls are 94.05: the 95th
  const Latency few = parse_diary(R"({"latencies": [0.3, "x", 0.1, -1, 0.2]})").facts.latency;
  EXPECT_EQ(few.calls, 3);
  EXPECT_DOUBLE_EQ(few.median_s, 0.2);
  EXPECT_EQ(few.p95_s, 0);
  EXPECT_FALSE(parse_diary(R"({"latencies": {}})").facts.latency.known());
}

TEST(Diary, HostileBytesLeaveItAbsent) {
  for (const char* text :
       {"", "{", "[]", "null", "{\"applied\": 3, \"refused\": [], \"steps\": -5}",
        "{\"graphs\": [1,2,3,[]], \"losses\": {}, \"job\": []}"}) {
    const Diary diary = parse_diary(text);
    EXPECT_TRUE(diary.applied.empty()) << text;
    EXPECT_EQ(diary.steps, 0) << text;
  }
  const std::string whole = kWhole;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_diary(whole.substr(0, size)).found) << size;
  }
}

TEST(Diary, EndingsAreToldApart) {
  EXPECT_EQ(ending(exited(0), kWhole), Ending::kMeasured);
  EXPECT_EQ(ending(exited(1), R"({"error": "torch.OutOfMemoryError: CUDA out of memory. Tried"})"),
            Ending::kOutOfMemory);
  EXPECT_EQ(ending(exited(1, "RuntimeError: DefaultCPUAllocator: can't allocate memory"), ""),
            Ending::kOutOfMemory);
  EXPECT_EQ(ending(exited(1), R"({"error": "torch._inductor.exc.InductorError: g++ failed"})"),
            Ending::kCompileFailed);
  EXPECT_EQ(ending(exited(1, "first\nValueError: wrong\n"), ""), Ending::kCrashed);
  EXPECT_EQ(classify(exited(1, "first\nValueError: wrong\n"), {}, {}).why,
            "exit 1: ValueError: wrong");
  const char* const followed = R"({"error": "RuntimeError: Connection closed by peer"})";
  const Classified other = classify(
      exited(1, "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried\nE1125 failed\n"),
      parse_diary(followed), {});
  EXPECT_EQ(other.ending, Ending::kOutOfMemory);
  EXPECT_EQ(other.why, "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried");
  EXPECT_EQ(ending(exited(1, "[rank1]: ValueError: wrong"), followed), Ending::kCrashed);
  ProcessEnd killed = exited(137);
  killed.signal = SIGKILL;
  EXPECT_EQ(ending(killed, kWhole), Ending::kKilled);
  ProcessEnd late;
  late.ended_by_us = late.timed_out = true;
  EXPECT_EQ(ending(late, ""), Ending::kTimeout);
  EXPECT_EQ(ending(exited(0), R"({"steps": 9, "last_loss": "nan"})"), Ending::kNotFinite);
  EXPECT_EQ(ending(exited(0), R"({"steps": 9, "losses": [1.0, "inf"]})"), Ending::kNotFinite);
  EXPECT_EQ(ending(exited(0), R"({"steps": 9, "graphs": [[1,1],[3,2],[5,3],[8,4]]})"),
            Ending::kRecompiled);
  EXPECT_EQ(ending(exited(0), R"({"steps": 99, "graphs": [[1,1],[3,2],[5,3],[8,4]]})"),
            Ending::kMeasured);
}

TEST(Diary, ALeverThatWasNotAppliedIsNotMeasured) {
  EXPECT_EQ(ending(exited(0), kWhole, {"threads"}), Ending::kMeasured);
  EXPECT_EQ(ending(exited(0), kWhole, {"compile"}), Ending::kNotApplied);
  EXPECT_EQ(classify(exited(0), parse_diary(kWhole), {"compile"}).why, "no compiler");
  EXPECT_EQ(ending(exited(0), "", {"threads"}), Ending::kNotApplied);
}

TEST(Diary, WindowsAreSecondsForAStep) {
  const Diary diary =
      parse_diary(R"({"windows": [[10, 0.5], [0, 1], [4], "x", [5, -1], [2, 1]], "steps": 12})");
  ASSERT_EQ(diary.windows.size(), 2U);
  EXPECT_DOUBLE_EQ(diary.windows[0].step_s, 0.05);
  EXPECT_EQ(diary.windows[1].steps, 2);
}

TEST(Diary, WhenGraphsWereMadeBehindTheFirstStepIsRead) {
  const Diary diary = parse_diary(
      R"({"graphs": [[1, 1, 5, 90], [2, 3, 90, 150], [3, 4], [4, 5, 200, 190], "x", [7, 6, 1.5, 2],
                     [6, 9, -5, 20], [5, 7, 300, 400]], "steps": 40})");
  EXPECT_EQ(diary.last_compiling_step, 7);
  ASSERT_EQ(diary.compiling.size(), 2U);
  EXPECT_EQ(diary.compiling[0].start_ns, 90);
  EXPECT_EQ(diary.compiling[1].end_ns, 400);
  EXPECT_EQ(parse_diary("{}").last_compiling_step, 0);
}

TEST(Diary, ManyStepsBecomeMeansOfNeighbours) {
  EXPECT_EQ(in_groups({1, 2, 3}), (std::vector<double>{1, 2, 3}));
  const std::vector<double> groups = in_groups(std::vector<double>(1000, 0.5));
  EXPECT_EQ(groups.size(), 200U);
  EXPECT_DOUBLE_EQ(groups.front(), 0.5);
}

}  // namespace
}  // namespace unstarve::tune
