#include "trace/text/hook_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/testing/test_folder.h"
#include "trace/job_gpu.h"
#include "trace/json/json_text.h"
#include "trace/run_writer.h"
#include "trace/text/secrets.h"

namespace unstarve::trace {
namespace {

ProcessRecord process(std::int64_t pid, const std::string& text) {
  ProcessRecord record;
  record.row.id.pid = pid;
  record.text = text;
  return record;
}

LoaderConfig loader(std::int64_t pid, std::int64_t id) {
  LoaderConfig config;
  config.process = pid;
  config.id = id;
  return config;
}

TEST(HookText, GivesEachLoaderItsOwnWords) {
  Timeline timeline;
  timeline.loaders = {loader(7, 3), loader(7, 5), loader(8, 5), loader(7, 9)};
  add_loader_words({process(7, R"({"loader_place": "t.py:1", "loaders": {
          "3": {"loader_place": "t.py:1", "dataset": {"class": "a.B", "root": "/val",
                "stream": true, "workers_repeat": false, "skips_at": "t.py:9",
                "skipped_made_by": ["rows", 7], "columns": [512, 128]}},
          "5": {"loader_place": "t.py:2", "dataset": {"class": "torch.Subset",
                "files_class": "c.D", "root": "/train", "root_hex": "2fff"},
                "transforms": ["A(3) ", 7, "B"]}}})")},
                   timeline);
  EXPECT_EQ(timeline.loaders[0].place, "t.py:1");
  EXPECT_EQ(timeline.loaders[0].data.files_class, "a.B") << "the same where nothing wraps it";
  EXPECT_TRUE(timeline.loaders[0].data.is_stream);
  EXPECT_FALSE(timeline.loaders[0].data.workers_repeat.value_or(true));
  EXPECT_EQ(timeline.loaders[0].data.skips_at, "t.py:9");
  EXPECT_EQ(timeline.loaders[0].data.skipped_made_by, std::vector<std::string>{"rows"});
  EXPECT_EQ(timeline.loaders[0].data.padded.value_or(-1), 0.75);
  EXPECT_FALSE(timeline.loaders[1].data.padded.has_value());
  EXPECT_FALSE(timeline.loaders[1].data.is_stream);
  EXPECT_FALSE(timeline.loaders[1].data.workers_repeat.has_value());
  EXPECT_EQ(timeline.loaders[1].place, "t.py:2");
  EXPECT_EQ(timeline.loaders[1].data.class_name, "torch.Subset");
  EXPECT_EQ(timeline.loaders[1].data.files_class, "c.D");
  EXPECT_EQ(timeline.loaders[1].data.transforms, (std::vector<std::string>{"A(3) ", "B"}));
  EXPECT_EQ(timeline.loaders[1].data.folder, "/\xff");
  EXPECT_EQ(timeline.loaders[2].place, "") << "of another process";
  EXPECT_EQ(timeline.loaders[3].place, "") << "nothing was said of it";
}

TEST(HookText, OfATextThatWasTooLongTheFirstLoadersWordsAreLeft) {
  Timeline timeline;
  timeline.loaders = {loader(7, 3), loader(7, 5)};
  add_loader_words({process(7, R"({"loader_place": "t.py:1", "left_out": ["loaders"],
      "dataset": {"class": "a.B", "root": "/val"}})")},
                   timeline);
  EXPECT_EQ(timeline.loaders[0].place, "t.py:1");
  EXPECT_EQ(timeline.loaders[0].data.folder, "/val");
  EXPECT_EQ(timeline.loaders[1].place, "");
}

TEST(HookText, IsThatOfTheProcessWithALoader) {
  const std::string training = R"({"loader_place": "t.py:1", "fix_refused": [{"reason": "no"}]})";
  const std::string text = text_of_training(
      {process(1, "{}"), process(2, training), process(3, R"({"python": "3"})"), process(4, "")});
  EXPECT_EQ(text, training);
  EXPECT_EQ(parse_hook_text(text).fix_refused, "no");
  EXPECT_FALSE(parse_hook_text(text).fix_applied);
  EXPECT_EQ(text_of_training({process(1, "no JSON")}), "");
}

TEST(HookText, GradientsAreCountedInBytes) {
  EXPECT_EQ(parse_hook_text(R"({"gradient_bytes": 102})").gradient_bytes.value_or(0), 102);
  EXPECT_FALSE(parse_hook_text(R"({"gradient_bytes": -1})").gradient_bytes);
  EXPECT_FALSE(parse_hook_text(R"({"gradient_bytes": "9"})").gradient_bytes);
}

TEST(HookText, CountedOperationsAreReadAndNothingOfThemIsTrusted) {
  const FlopText flops = parse_hook_text(R"({"flops": {"kinds": {"tf32": 2e12, "float16": 7},
      "step": 5, "samples": 64, "device": "cuda", "operand_bytes": 9e9, "compiled": true,
      "not_counted": ["x::y", 3], "cost_ns": 1, "threads": 2, "cache_bytes": 3e7}})")
                             .flops;
  EXPECT_EQ(flops.by_dtype, (std::map<std::string, double>{{"float16", 7}, {"tf32", 2e12}}));
  EXPECT_EQ(flops.step, 5);
  EXPECT_EQ(flops.samples.value_or(0), 64);
  EXPECT_EQ(flops.operand_bytes.value_or(0), 9e9);
  EXPECT_FALSE(flops.beyond_cache_bytes);
  EXPECT_EQ(flops.threads.value_or(0), 2);
  EXPECT_EQ(flops.cache_bytes.value_or(0), 3e7);
  EXPECT_EQ(flops.not_counted, std::vector<std::string>{"x::y"});
  EXPECT_TRUE(flops.compiled);
  const FlopText odd = parse_hook_text(R"({"flops": {"kinds": {"tf32": -1, "float16": "7",
      "float32": 1e300}, "step": "x", "samples": -9223372036854775808, "operand_bytes": [],
      "threads": 1e99, "cache_bytes": -1}})")
                           .flops;
  EXPECT_TRUE(odd.by_dtype.empty());
  EXPECT_EQ(odd.step, -1);
  EXPECT_FALSE(odd.samples);
  EXPECT_FALSE(odd.operand_bytes);
  EXPECT_FALSE(odd.threads);
  EXPECT_FALSE(odd.cache_bytes);
  const FlopText large = parse_hook_text(R"({"flops": {"step": 1e20, "samples": 1e19}})").flops;
  EXPECT_EQ(large.step, -1) << "such a double has no int64";
  EXPECT_FALSE(large.samples);
  EXPECT_EQ(parse_hook_text(R"({"flops": {"refused": "why"}})").flops.refused, "why");
  EXPECT_TRUE(parse_hook_text(R"({"flops": 5})").flops.by_dtype.empty());
}

TEST(HookText, AnythingElseCountsAsNotSaid) {
  for (const char* text :
       {"", "nothing", "[]", "7", "null",
        R"({"loaders": [1], "dataset": 3, "left_out": "dataset"})",
        R"({"loaders": {"x": null, "1": 2, "99999999999999999999": {}}, "fix_refused": [[]]})",
        R"({"dataset": {"class": 3, "root": {}, "root_hex": "zz"}, "loader_place": []})"}) {
    const HookText words = parse_hook_text(text);
    EXPECT_EQ(words.first_loader.place, "") << text;
    EXPECT_EQ(words.first_loader.data.folder, "") << text;
    EXPECT_EQ(words.fix_refused, "") << text;
    EXPECT_FALSE(words.data_left_out) << text;
  }
  EXPECT_TRUE(parse_hook_text(R"({"left_out": ["loaders", "dataset"]})").data_left_out);
}

TEST(HookText, SaysWhatTheJobTrainsOn) {
  Timeline timeline;
  add_training_devices({process(7, R"({"trains_on": {"device": "cuda", "build": "rocm",
                                      "gradients": false},
                      "profile": {"skipped": "NSYS is set"}})"),
                        process(8, R"({"trains_on": "cpu"})"),
                        process(9, R"({"trains_on": {"device": 3}})"), process(10, "no JSON")},
                       timeline);
  ASSERT_EQ(timeline.training_devices.size(), 1U) << "what is not as expected was not said";
  EXPECT_EQ(timeline.training_devices[0].process, 7);
  EXPECT_EQ(timeline.training_devices[0].kind, "cuda");
  EXPECT_EQ(timeline.training_devices[0].build, "rocm");
  EXPECT_FALSE(timeline.training_devices[0].computes_gradients.value_or(true));
  EXPECT_EQ(timeline.training_devices[0].unwatched, "NSYS is set");
}

TEST(HookText, WorkersSayWhichCpusTheyMayUse) {
  const auto cpus = [](const std::vector<ProcessRecord>& processes) {
    Timeline timeline;
    add_worker_cpus(processes, timeline);
    return timeline.worker_cpus;
  };
  ProcessRecord first = process(8, R"({"cpu_mask": "10000000000000003"})");
  ProcessRecord second = process(9, R"({"cpu_mask": "6"})");
  first.row.role = second.row.role = ProcessRole::kLoaderWorker;
  EXPECT_EQ(*cpus({first, second}), 4);
  EXPECT_FALSE(cpus({process(7, R"({"cpu_mask": "f"})")})) << "a process that trains";
  first.text = R"({"cpu_mask": 3})";
  second.text = R"({"cpu_mask": "no number: /"})";
  EXPECT_LE(cpus({first, second}).value_or(0), 16) << "what is no digit counts as none";
}

TEST(HookText, LoadersSayWhetherTheirFetchesDraw) {
  Timeline timeline;
  timeline.loaders.resize(3);
  for (std::int64_t id = 0; id < 3; ++id) timeline.loaders[static_cast<std::size_t>(id)].id = id;
  add_loader_words({process(8, R"({"fetches_draw": {"0": false, "1": false}})"),
                    process(9, R"({"fetches_draw": {"0": true, "1": false, "x": true, "2": 1}})"),
                    process(10, R"({"fetches_draw": [true]})")},
                   timeline);
  EXPECT_TRUE(*timeline.loaders[0].data.draws) << "in one worker";
  EXPECT_FALSE(*timeline.loaders[1].data.draws);
  EXPECT_FALSE(timeline.loaders[2].data.draws.has_value());
}

TEST(HookText, TheProfiledWindowIsReadAndNothingOfItIsTrusted) {
  const ProfileText profile = parse_hook_text(
                                  R"({"profile": {"file": "kineto-0.json.gz", "held_up": [30, 40],
          "marks": [[11, 5, 7], [12, 15], "x", [13, 20, 2.5], [14, 25, 26]]}})")
                                  .profile;
  EXPECT_EQ(profile.file, "kineto-0.json.gz");
  ASSERT_EQ(profile.marks.size(), 2U);
  EXPECT_EQ(profile.marks[1].step, 14);
  EXPECT_EQ(profile.marks[1].before_ns, 25);
  EXPECT_EQ(profile.marks[1].after_ns, 26);
  EXPECT_EQ(profile.interruption.duration_ns(), 10);
  const ProfileText odd =
      parse_hook_text(
          R"({"profile": {"file": "../kineto-0.json.gz", "held_up": [40, 30], "marks": 5}})")
          .profile;
  EXPECT_TRUE(odd.file.empty());
  EXPECT_TRUE(odd.marks.empty());
  EXPECT_EQ(odd.interruption.duration_ns(), 0);
}

TEST(JsonText, WhatNestsTooDeepIsNone) {
  const auto nested = [](std::size_t deep) {
    return std::string(deep, '[') + std::string(deep, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)).is_array());
  EXPECT_TRUE(parse_json(nested(65)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
  // Brackets in strings nest nothing, and neither do those that end.
  EXPECT_TRUE(parse_json("\"" + std::string(100, '[') + "\\\"[\"").is_string());
  std::string flat = "[";
  for (int i = 0; i < 100; ++i) flat += "[],";
  EXPECT_TRUE(parse_json(flat + "[]]").is_array());
}

TEST(HookText, ThatNestsTooDeepSaysNothing) {
  const std::string deep(200'000, '[');
  const std::string text = R"({"dataset": {"x": )" + deep + std::string(200'000, ']') + "}}";
  EXPECT_TRUE(parse_hook_text(text).loaders.empty());
}

/// A run on a machine with four GPUs whose training process says this.
std::int64_t gpu_of(const std::string& trains_on) {
  const TestFolder folder;
  const std::string dir = folder.path() + "/run";
  {
    auto writer = RunWriter::create(dir, {}, {});
    EXPECT_TRUE(writer);
    (*writer)->put("gpu_uuids", R"(["GPU-aa", "GPU-bb", "GPU-cc", "GPU-dd"])");
    ProcessRow row;
    row.id.pid = 7;
    (*writer)->add(row);
    (*writer)->set_process_text(row.id, R"({"role": "main", "trains_on": )" + trains_on + "}");
    EXPECT_TRUE((*writer)->finish(1, 0));
  }
  const auto run = RunReader::open(dir);
  EXPECT_TRUE(run);
  return job_gpu(*run, 7).index;
}

TEST(JobGpu, IsTheOneThatTheProcessTrainsOn) {
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 0, "uuid": "cc", "visible": "2"})"), 2);
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 1, "uuid": "DD"})"), 3);
  // Without a UUID, as older versions of torch have it.
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 1})"), 1);
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 1, "visible": "3, 2"})"), 2);
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 0, "visible": "GPU-b"})"), 1);
  // What it says may be anything.
  EXPECT_EQ(gpu_of(R"({"device": "cuda", "ordinal": 9, "visible": "3"})"), 0);
  EXPECT_EQ(gpu_of(R"({"ordinal": -4, "visible": "x"})"), 0);
  EXPECT_EQ(gpu_of("[]"), 0);
}

TEST(Secrets, AreHiddenInCommands) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(without_secrets({"env", "WANDB_API_KEY=abc", "python", "train.py", "--api-key", "x",
                             "--hub_token=y", "trainer.secret=z", "--password", "--lr", "0.1"}),
            (Words{"env", "WANDB_API_KEY=***", "python", "train.py", "--api-key", "***",
                   "--hub_token=***", "trainer.secret=***", "--password", "--lr", "0.1"}));
  EXPECT_EQ(without_secrets({"--data", "https://me:pw@host/a@b", "s3://bucket/x@y", "me@host"}),
            (Words{"--data", "https://***@host/a@b", "s3://bucket/x@y", "me@host"}));
  // What only sounds alike.
  const Words plain = {"--tokenizer", "gpt2", "--max-tokens=512", "--keys", "a",
                       "--keyframes", "3"};
  EXPECT_EQ(without_secrets(plain), plain);
}

}  // namespace
}  // namespace unstarve::trace
