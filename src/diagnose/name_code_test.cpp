#include "diagnose/name_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/diagnose.h"
#include "diagnose/line_words.h"
#include "diagnose/lines/code_tally.h"
#include "diagnose/lines/known_calls.h"
#include "diagnose/testing/starving_run.h"

namespace unstarve::diagnose {
namespace {

using test::kMs;
using test::starving_run;
using testing::HasSubstr;
using trace::Stack;
using trace::Timeline;

constexpr std::int64_t kProcess = 7;  // that trains, in its thread 7
constexpr std::int64_t kWorker = 8;   // a worker, in its thread 8

void look(Timeline& timeline, std::int64_t t_ns, std::int64_t process, const Stack& stack) {
  timeline.stacks.push_back(stack);
  timeline.stack_samples.push_back({t_ns, process, process, 45 * kMs, 0,
                                    static_cast<std::uint32_t>(timeline.stacks.size() - 1)});
}

Stack at_line(const char* line, const char* call) {
  Stack stack;
  stack.line = line;
  stack.call = call;
  return stack;
}

const Finding* find(const Diagnosis& diagnosis, const char* cause) {
  for (const Finding& finding : diagnosis.findings) {
    if (finding.cause == cause) return &finding;
  }
  return nullptr;
}

// Steps of 100 ms: 40 ms in the loader, 30 ms between it and the launch, 30 ms of a kernel.
TEST(NameCode, OfALateLaunchTheLineThatRanInTheGap) {
  Timeline timeline = starving_run(21, 40, 30);
  for (std::int64_t step = 1; step < 21; ++step) {
    const std::int64_t start = step * 100 * kMs;
    look(timeline, start + 20 * kMs, kProcess, at_line("train.py:9", "for x in loader"));
    const bool saves = step % 5 != 0;
    Stack stack = at_line(saves ? "train.py:57" : "train.py:60", saves ? "torch.save(x)" : "f(x)");
    look(timeline, start + 60 * kMs, kProcess, stack);
    look(timeline, start + 80 * kMs, kProcess, at_line("train.py:58", "busy()"));
  }
  const Diagnosis found = diagnose(timeline, {});
  const Finding* launch = find(found, "launch");
  ASSERT_NE(launch, nullptr);
  ASSERT_EQ(launch->code.parts.size(), 2U);
  EXPECT_EQ(launch->code.looks, 20);
  EXPECT_EQ(launch->code.parts[0].place, "train.py:57");
  EXPECT_EQ(launch->code.parts[0].what, "saving a checkpoint");
  EXPECT_NEAR(launch->code.parts[0].share, 0.8, 1e-9);
  EXPECT_EQ(launch->code.parts[1].place, "train.py:60");
  EXPECT_EQ(line_words(*launch), ", mostly at train.py:57 (`torch.save(x)`, saving a checkpoint)");
  EXPECT_THAT(launch->evidence.back(), HasSubstr("of 20 looks"));
  // Outside of the loader, whatever the device did.
  ASSERT_EQ(found.own_code.parts.size(), 3U);
  EXPECT_EQ(found.own_code.parts[0].place, "train.py:58");
  EXPECT_NEAR(found.own_code.parts[0].share, 0.5, 1e-9);
}

TEST(NameCode, TheTrainingItselfIsNoLineThatCouldGoElsewhere) {
  for (const char* callee :
       {"torch/_tensor.py backward", "torch/optim/adam.py step", "json/dumps"}) {
    Timeline timeline = starving_run(21, 40, 30);
    Stack stack = at_line("train.py:57", "g(x)");
    stack.callee = callee;
    for (std::int64_t step = 1; step < 21; ++step) {
      look(timeline, step * 100 * kMs + 60 * kMs, kProcess, stack);
    }
    const Diagnosis found = diagnose(timeline, {});
    const Finding* launch = find(found, "launch");
    ASSERT_NE(launch, nullptr);
    EXPECT_THAT(line_words(*launch), HasSubstr("mostly at train.py:57")) << callee;
    EXPECT_EQ(line_of(*launch).empty(), std::string_view(callee) != "json/dumps") << callee;
  }
}

TEST(NameCode, OfASyncTheLineThatBlocks) {
  Timeline timeline = starving_run(21, 0, 50);
  for (std::int64_t step = 1; step < 21; ++step) {
    const std::int64_t start = step * 100 * kMs;
    trace::HostCall call;  // until 20 ms after the kernel of the step before has ended
    call.kind = trace::HostCallKind::kSync;
    call.process = call.thread = kProcess;
    call.start_ns = start - 30 * kMs;
    call.end_ns = start + 20 * kMs;
    timeline.host_calls.push_back(call);
    look(timeline, start - 20 * kMs, kProcess, at_line("train.py:57", "loss.item()"));
    look(timeline, start + 30 * kMs, kProcess, at_line("train.py:58", "log(loss)"));
  }
  trace::sort_by_start(timeline);
  const Diagnosis found = diagnose(timeline, {});
  const Finding* sync = find(found, "sync");
  ASSERT_NE(sync, nullptr);
  ASSERT_EQ(sync->code.parts.size(), 1U);
  EXPECT_EQ(sync->code.parts[0].place, "train.py:57");
  EXPECT_EQ(line_words(*sync),
            ", mostly at train.py:57 (`loss.item()`, reading a result); for 100 % of the gap it "
            "then works at train.py:58 (`log(loss)`)");
  EXPECT_THAT(sync->evidence, testing::Contains(HasSubstr("train.py:58")));

  for (Stack& stack : timeline.stacks) {
    if (stack.line == "train.py:58") stack.callee = "torch/nn/modules/module.py _wrapped_call_impl";
  }
  const Diagnosis trains_on = diagnose(timeline, {});
  EXPECT_EQ(line_words(*find(trains_on, "sync")),
            ", mostly at train.py:57 (`loss.item()`, reading a result)");
}

/// A job of 20 steps that a worker's fetches feed, each of 90 ms.
Timeline fed_by_worker() {
  Timeline timeline = starving_run(21, 60, 40);
  trace::LoaderConfig loader;
  loader.process = kProcess;
  loader.id = 0;
  loader.num_workers = 1;
  timeline.loaders.push_back(loader);
  for (trace::LoaderWait& wait : timeline.loader_waits) wait.loader_id = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    trace::Fetch fetch;
    fetch.when = {i * 100 * kMs, i * 100 * kMs + 90 * kMs};
    fetch.process = fetch.thread = kWorker;
    fetch.loader_id = 0;
    timeline.fetches.push_back(fetch);
  }
  return timeline;
}

TEST(NameCode, OfSamplesThatSleepByTheirOwnCode) {
  for (const char* call : {"time.sleep(0.1)", "sleep(0.1)", "self.oversleep(0.1)"}) {
    Timeline timeline = fed_by_worker();
    for (std::int64_t i = 0; i < 20; ++i) {
      Stack stack = at_line("data.py:12", call);
      stack.in_fetch = true;
      look(timeline, i * 100 * kMs + 10 * kMs, kWorker, stack);
    }
    const bool sleeps = std::string_view(call) != "self.oversleep(0.1)";
    const Diagnosis found = diagnose(timeline, {});
    EXPECT_DOUBLE_EQ(*found.signals.fetch_sleep_call_ratio, sleeps ? 1 : 0) << call;
    const Finding* wait = find(found, "input_wait");
    ASSERT_NE(wait, nullptr);
    EXPECT_EQ(wait->detail == "asleep", sleeps) << wait->detail;
  }
}

TEST(NameCode, OfACollateFunctionThatTokenizes) {
  Timeline timeline = fed_by_worker();
  for (std::int64_t i = 0; i < 20; ++i) {
    trace::Fetch& fetch = timeline.fetches[static_cast<std::size_t>(i)];
    fetch.cpu_ns = fetch.collate_ns = 30 * kMs;  // for the rest it waits for the library's threads
    fetch.decode_ns = 0;
    Stack stack = at_line("train.py:16", "tokenizer(texts)");
    stack.callee = "transformers/tokenization_utils_base.py __call__";
    stack.in_fetch = stack.in_collate = true;
    look(timeline, fetch.when.start_ns + 10 * kMs, kWorker, stack);
  }
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_EQ(*found.signals.collate_ratio, 0);
  EXPECT_EQ(*found.signals.fetch_collating_ratio, 1);
  const Finding* wait = find(found, "input_wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->detail, "python_transform");
  EXPECT_EQ(wait->work, "tokenizing");
  EXPECT_EQ(line_words(*wait), "; 100 % of a sample is tokenizing (train.py:16)");
}

TEST(NameCode, OfATokenizerThatLooksLikeATransform) {
  Timeline timeline = fed_by_worker();
  for (std::int64_t i = 0; i < 20; ++i) {
    Stack stack = at_line("data.py:12", "tokenizer(text)");
    stack.callee = "transformers/tokenization_utils_base.py __call__";
    stack.transform = "PreTrainedTokenizerBase";
    stack.transform_place = i < 15 ? "" : "train.py:41";
    stack.in_fetch = true;
    look(timeline, timeline.fetches[static_cast<std::size_t>(i)].when.start_ns + 10 * kMs, kWorker,
         stack);
  }
  const Diagnosis found = diagnose(timeline, {});
  const Finding* wait = find(found, "input_wait");
  ASSERT_NE(wait, nullptr);
  ASSERT_EQ(wait->code.parts.size(), 2U);
  EXPECT_EQ(code_words(wait->code.parts[0]), "tokenizing (data.py:12)");
  EXPECT_EQ(code_words(wait->code.parts[1]), "PreTrainedTokenizerBase (train.py:41)");
}

TEST(NameCode, OfSamplesWhatTheirFetchesDo) {
  Timeline timeline = fed_by_worker();
  for (std::int64_t i = 0; i < 20; ++i) {
    const trace::Fetch fetch = timeline.fetches[static_cast<std::size_t>(i)];
    Stack stack;
    stack.in_fetch = true;
    stack.line = "data.py:12";
    stack.call = "self.transform(image)";
    if (i % 5 == 0) {
      stack.in_decode = true;
    } else if (i % 5 < 4) {
      stack.transform = "RandAugment";
      stack.transform_place = "train.py:41";
    }
    look(timeline, fetch.when.start_ns + 10 * kMs, kWorker, stack);
    stack.transform = "Nobody";
    look(timeline, fetch.when.end_ns + 5 * kMs, kWorker, stack);  // of no fetch that is known
  }
  const Diagnosis found = diagnose(timeline, {});
  const Finding* wait = find(found, "input_wait");
  ASSERT_NE(wait, nullptr);
  ASSERT_EQ(wait->code.parts.size(), 3U);
  EXPECT_EQ(code_words(wait->code.parts[0]), "RandAugment (train.py:41)");
  EXPECT_NEAR(wait->code.parts[0].share, 0.6, 1e-9);
  EXPECT_EQ(line_words(*wait),
            "; 60 % of a sample is RandAugment (train.py:41), 20 % data.py:12 "
            "(`self.transform(image)`)");
}

TEST(NameCode, OfFewLooksNothingIsSaid) {
  Timeline timeline = starving_run(10, 40, 30);
  for (std::int64_t step = 1; step < 10; ++step) {
    look(timeline, (step * 100 + 60) * kMs, kProcess, at_line("train.py:57", "f()"));
  }
  const Diagnosis found = diagnose(timeline, {});
  ASSERT_NE(find(found, "launch"), nullptr);
  EXPECT_TRUE(find(found, "launch")->code.parts.empty());
  EXPECT_EQ(line_words(*find(found, "launch")), "");
}

TEST(NameCode, ALookCountsForTheTimeThatItStandsFor) {
  Timeline timeline = starving_run(21, 40, 30);
  for (std::int64_t step = 1; step < 21; ++step) {
    look(timeline, (step * 100 + 60) * kMs, kProcess,
         at_line(step <= 16 ? "train.py:1" : "train.py:2", "f()"));
    if (step > 16) timeline.stack_samples.back().period_ns *= 12;
  }
  const CodeTime code = find(diagnose(timeline, {}), "launch")->code;
  ASSERT_EQ(code.parts.size(), 2U);
  EXPECT_EQ(code.parts[0].place, "train.py:2");
  EXPECT_NEAR(code.parts[0].share, 0.75, 1e-9);
  EXPECT_EQ(code.parts[0].looks, 4);
}

// Looks that waited for Python's lock until it was given away fall behind what kept it. Who keeps
// it is known by those looks that got it by force.
TEST(NameCode, WhatKeepsPythonsLockIsNotHidden) {
  CodeTally tally(CodeTally::By::kLine);
  const auto add = [&tally](const char* line, std::int64_t late_us, int times) {
    for (int i = 0; i < times; ++i) {
      tally.add({0, kProcess, kProcess, 45 * kMs, late_us * 1000, 0}, at_line(line, "f()"));
    }
  };
  add("sleeps.py:1", 100, 20);
  add("sleeps.py:1", 3000, 33);
  add("computes.py:1", 5200, 47);
  const CodeTime time = tally.result();
  ASSERT_EQ(time.parts.size(), 2U);
  EXPECT_EQ(time.parts[0].place, "computes.py:1");
  EXPECT_NEAR(time.parts[0].share, 0.8, 1e-9);
  EXPECT_NEAR(time.parts[1].share, 0.2, 1e-9);
}

TEST(KnownCalls, AreTold) {
  Stack queue = at_line("train.py:5", "batches.get()");
  queue.callee = "queue.py get";
  EXPECT_EQ(what_runs(queue), "waiting for its own queue");
  EXPECT_EQ(what_runs(at_line("train.py:5", "time.sleep(0.1)")), "sleeping");
  Stack evaluation = at_line("train.py:5", "model(x)");
  evaluation.callers = {"evaluate", "main"};
  EXPECT_EQ(what_runs(evaluation), "evaluation");
  EXPECT_EQ(what_runs(at_line("train.py:5", "model(x)")), "");
}

TEST(NameCode, OfASlowSamplerItsLine) {
  Timeline timeline = starving_run(21, 40, 30);
  for (std::int64_t step = 1; step < 21; ++step) {
    const std::int64_t start = step * 100 * kMs;
    Stack sorts = at_line("train.py:12", "places.sort()");
    sorts.in_wait = sorts.in_order = true;
    look(timeline, start + 5 * kMs, kProcess, sorts);
    look(timeline, start + 20 * kMs, kProcess, sorts);
    Stack waits = at_line("train.py:40", "for x in loader");
    waits.in_wait = true;
    look(timeline, start + 30 * kMs, kProcess, waits);
  }
  const Diagnosis found = diagnose(timeline, {});
  EXPECT_NEAR(*found.signals.order_ratio, 2.0 / 3, 1e-9);
  const Finding* input = find(found, "input_wait");
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(input->detail, "sampler");
  EXPECT_EQ(line_words(*input), ", mostly at train.py:12 (`places.sort()`)");
}

TEST(NameCode, SaysWhoseCompiledCodeFetchesRan) {
  HostSignals host;
  host.fetch_libraries = {{"python3.11", 15},
                          {"libjpeg-4d1b1f2e.so.62.4.0", 50},
                          {"_imaging.cpython-311-x86_64-linux-gnu.so", 20},
                          {"libtorch_cpu.so", 6},
                          {"libtorch_python.so", 6},
                          {"my_decoder.so", 12},
                          {"[vdso]", 0.5}};
  const Diagnosis found = diagnose(starving_run(21, 40, 30), host);
  const LibraryTime& time = found.fetch_libraries;
  EXPECT_EQ(time.looks, 109);
  ASSERT_EQ(time.parts.size(), 6U) << "below 1 % nothing is said";
  EXPECT_EQ(time.parts[0].library, "libjpeg-4d1b1f2e.so.62.4.0");
  EXPECT_EQ(time.parts[0].what, "JPEG images");
  const Finding* input = find(found, "input_wait");
  ASSERT_NE(input, nullptr);
  EXPECT_THAT(input->evidence,
              testing::Contains(HasSubstr("46 % JPEG images, 18 % Pillow, 14 % Python itself, 11 % "
                                          "PyTorch, 11 % my_decoder.so")));

  host.fetch_libraries = {{"python3.11", 9}, {"libjpeg.so.62", 40}};
  const Diagnosis few = diagnose(starving_run(21, 40, 30), host);
  EXPECT_THAT(find(few, "input_wait")->evidence,
              testing::Not(testing::Contains(HasSubstr("JPEG images"))))
      << "too few looks to tell";
}

}  // namespace
}  // namespace unstarve::diagnose
