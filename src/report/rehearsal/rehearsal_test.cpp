#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/rehearsal/rehearsal_json.h"
#include "report/rehearsal/rehearsal_text.h"

namespace unstarve::report {
namespace {

rehearse::Rehearsal rehearsal() {
  rehearse::Rehearsal all;
  all.cores = all.run.cores = 2;
  all.run.steps = 40;
  all.run.step_s = 0.2;
  all.run.workers = 2;
  all.kinds = {{.name = "a100", .device_name = "NVIDIA A100", .device_s = 0.05},
               {.name = "/some/where/own.json",
                .device_name = "Own",
                .by = rehearse::DurationsBy::kStepTime,
                .device_s = 0.5,
                .memory_needed_ratio = 1.5}};
  rehearse::RehearsedCell starved;
  starved.forecast.au = {0.25, 0.2, 0.3};
  starved.cores_needed = predict::Interval90{7, 6, 8};
  starved.workers_needed = 4;
  starved.storage_bytes_per_s_needed = 2.5e8;
  starved.au_on_cores = {{1, 0.12}, {2, 0.25}};
  starved.remedies = {{"more_workers", "num_workers=4", {0.4, 0.3, 0.5}},
                      {"unstarve_loader", "2 threads", {1, 0.99, 1}},
                      {"unstarve_cache", "2 threads", {1, 0.99, 1}},
                      {"unstarve_shards", "2 threads", {1, 0.99, 1}}};
  rehearse::RehearsedCell fed;
  fed.kind = 1;
  fed.gpus = 2;
  fed.forecast.au = {0.98, 0.95, 1};
  all.cells = {starved, fed};
  all.notes = {"a note"};
  return all;
}

TEST(RehearsalText, SaysEachCellWithinTheWidth) {
  const std::string text = render_rehearsal(rehearsal(), {.width = 80});
  EXPECT_NE(text.find("25 [20..30]"), std::string::npos) << text;
  EXPECT_NE(text.find("7.0 [6.0..8.0]"), std::string::npos) << text;
  EXPECT_NE(text.find("none is enough"), std::string::npos) << text;
  EXPECT_NE(text.find("40 [30..50]"), std::string::npos) << text;
  EXPECT_NE(text.find("the job took 1.5 times"), std::string::npos) << text;
  EXPECT_NE(text.find("note: a note"), std::string::npos) << text;
  EXPECT_EQ(text.find("/some/where"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80) << line;
}

TEST(RehearsalJson, HasTheKeysOfItsFormat) {
  const auto shown = nlohmann::json::parse(rehearsal_json(rehearsal()));
  EXPECT_EQ(shown["schema"], "unstarve.rehearsal/1");
  EXPECT_EQ(shown["kinds"][1]["durations_by"], "step time");
  EXPECT_EQ(shown["kinds"][0]["memory_needed_ratio"]["absent"], "not_observed");
  const auto& starved = shown["cells"][0];
  EXPECT_EQ(starved["kind"], "a100");
  EXPECT_EQ(starved["au"]["low"], 0.2);
  EXPECT_EQ(starved["cores_needed"]["value"], 7);
  EXPECT_EQ(starved["au_on_cores"][1]["cores"], 2);
  EXPECT_EQ(starved["remedies"][0]["id"], "more_workers");
  EXPECT_EQ(shown["cells"][1]["cores_needed"]["absent"], "not_supported");
  EXPECT_EQ(shown["cells"][1]["storage_bytes_per_s_needed"]["absent"], "not_observed");
}

}  // namespace
}  // namespace unstarve::report
