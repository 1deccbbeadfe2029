#include "report/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/testing/golden.h"
#include "report/testing/sample_report.h"
#include "report/words/utf8.h"

namespace unstarve::report {
namespace {

using nlohmann::json;

Report report_of(const diagnose::Diagnosis& diagnosis) {
  Report report;
  report.diagnosis = diagnosis;
  report.advice = sample::advice();
  return report;
}

TEST(Json, MatchesTheGoldenFile) {
  const Report report = sample::report();
  sample::expect_golden("diagnosis.json", to_json(report, true));
}

TEST(Json, TheSameInputGivesTheSameBytes) {
  const Report report = sample::report();
  EXPECT_EQ(to_json(report, false), to_json(sample::report(), false));
}

TEST(Json, VerificationIsThereOnlyWhenAskedFor) {
  const diagnose::Diagnosis diagnosis = sample::diagnosis();
  EXPECT_FALSE(json::parse(to_json(report_of(diagnosis), false)).contains("verification"));
  EXPECT_EQ(json::parse(to_json(report_of(diagnosis), true)).at("verification"), json::array());
}

TEST(Json, TheTimeOfTheTrainingThreadIsThereWithoutAGpu) {
  const Report report = sample::host_report();
  const json parsed = json::parse(to_json(report, false));
  EXPECT_EQ(
      parsed.at("thread_time"),
      (json{{"input_wait", 0.62}, {"sync", {{"absent", "not_observed"}}}, {"own_work", 0.38}}));
  EXPECT_EQ(parsed.at("steps").at("samples_per_s"), 157.3);
  EXPECT_EQ(parsed.at("not_observed").at(0).at("why"), "this job trains on the CPU");
}

TEST(Json, ErrorsOfGpusAreThereWhereThereWereAny) {
  Report report = sample::host_report();
  EXPECT_FALSE(json::parse(to_json(report, false)).contains("gpu_errors"));
  report.diagnosis.gpu_errors = {
      {.device = 1, .xid = 79, .gpu_instance = 7, .count = 2, .first_at_s = 1.5, .after_steps = 3},
      {.device = 0, .xid = 140, .count = 1}};
  const json errors = json::parse(to_json(report, false)).at("gpu_errors");
  EXPECT_EQ(errors.at(0).at("meaning"), "GPU has fallen off the bus");
  EXPECT_EQ(errors.at(0).at("device"), 1);
  EXPECT_EQ(errors.at(0).at("gpu_instance"), 7);
  EXPECT_EQ(errors.at(0).at("count"), 2);
  EXPECT_EQ(errors.at(0).at("first_at_s"), 1.5);
  EXPECT_EQ(errors.at(0).at("after_steps"), 3);
  EXPECT_FALSE(errors.at(1).contains("meaning"));
  EXPECT_FALSE(errors.at(1).contains("gpu_instance"));
}

TEST(Json, WhatOnlyATrialCanTellIsThereByItself) {
  Report report = report_of(sample::diagnosis());
  report.advice.for_findings.clear();
  EXPECT_FALSE(json::parse(to_json(report, true)).contains("worth_a_trial"));
  advise::Remedy maybe{"more_workers", "Make the DataLoader with num_workers=2."};
  maybe.values = {{"num_workers", 2}, {"prefetch_factor", 4}};
  maybe.predicted = predict::Speedup{1.29, 0.99, 1.7};
  report.advice.doubtful = {maybe};
  const json found = json::parse(to_json(report, true));
  EXPECT_EQ(found["worth_a_trial"]["id"], "more_workers");
  EXPECT_EQ(found["worth_a_trial"]["predicted"]["low"], 0.99);
}

TEST(Json, TheRemedyToBeginWithIsNamed) {
  Report report = sample::report();
  EXPECT_EQ(json::parse(to_json(report, true))["next_remedy"], "unstarve_loader");
  report.advice.next_remedy.reset();
  EXPECT_FALSE(json::parse(to_json(report, true)).contains("next_remedy"));
}

TEST(Json, LibrariesOfFetchesAreThereWhereSomebodyLooked) {
  diagnose::Diagnosis diagnosis = sample::diagnosis();
  EXPECT_FALSE(json::parse(to_json(report_of(diagnosis), true)).contains("fetch_libraries"));
  diagnosis.fetch_libraries = {{{"libjpeg.so.62", "JPEG images", 0.75}, {"mine.so", "", 0.25}}, 80};
  const json found = json::parse(to_json(report_of(diagnosis), true))["fetch_libraries"];
  EXPECT_EQ(found["looks"], 80);
  EXPECT_EQ(found["parts"][0]["what"], "JPEG images");
  EXPECT_FALSE(found["parts"][1].contains("what"));
}

TEST(Json, TheWorkOfAFindingIsThereWhereItIsKnown) {
  diagnose::Diagnosis diagnosis = sample::diagnosis();
  const auto finding = [&diagnosis] {
    return json::parse(to_json(report_of(diagnosis), false)).at("findings").at(0);
  };
  EXPECT_FALSE(finding().contains("work"));
  diagnosis.findings.front().work = "tokenizing";
  EXPECT_EQ(finding().at("work"), "tokenizing");
}

TEST(Json, AbsentIsAReasonAndNeverZero) {
  diagnose::Diagnosis diagnosis;
  diagnosis.partition = WhyAbsent::kNotSupported;
  diagnosis.devices.resize(1);
  const json parsed = json::parse(to_json(report_of(diagnosis), false));
  EXPECT_EQ(parsed.at("partition"), (json{{"absent", "not_supported"}}));
  EXPECT_EQ(parsed.at("steps").at("mean_us"), (json{{"absent", "not_observed"}}));
  EXPECT_EQ(parsed.at("devices").at(0).at("name"), (json{{"absent", "not_observed"}}));
  EXPECT_EQ(parsed.at("findings"), json::array());
}

TEST(Json, OnlyEmulatedDevicesAndRunsSaySo) {
  diagnose::Diagnosis diagnosis = sample::diagnosis();
  EXPECT_EQ(json::parse(to_json(report_of(diagnosis), false)).at("devices").at(0).at("emulated"),
            true);
  diagnosis.devices[0].info.emulated = false;
  diagnosis.run_id.clear();
  diagnosis.input = trace::InputKind::kKineto;
  const json parsed = json::parse(to_json(report_of(diagnosis), false));
  EXPECT_FALSE(parsed.at("devices").at(0).contains("emulated"));
  EXPECT_FALSE(parsed.contains("run_id"));
  EXPECT_EQ(parsed.at("input").at("kind"), "kineto");
}

TEST(Json, DurationsOfTheRooflineAreARange) {
  Report report = sample::report();
  EXPECT_FALSE(json::parse(to_json(report, false)).contains("emulated_durations"));
  report.facts.emulated_durations = "factor";
  EXPECT_EQ(json::parse(to_json(report, false)).at("emulated_durations"),
            (json{{"from", "factor"}}));
  report.facts.emulated_durations = "roofline";
  const json range = json::parse(to_json(report, false)).at("emulated_durations");
  EXPECT_EQ(range.at("from"), "roofline");
  EXPECT_LT(range.at("real_over_modelled").at("half").at(0), 1);
  EXPECT_GT(range.at("real_over_modelled").at("half").at(1), 1);
  EXPECT_GT(range.at("real_over_modelled").at("figures"), 0);
}

TEST(Json, SaysWhatGpusRanThatAreNotJudged) {
  Report report = sample::report();
  EXPECT_FALSE(json::parse(to_json(report, false)).contains("gpu_set_aside"));
  report.diagnosis.set_aside = {job::AsideReason::kTrainsOnHost, 3, 4'500, 2'000'000};
  EXPECT_EQ(
      json::parse(to_json(report, false)).at("gpu_set_aside"),
      (json{{"reason", "trains_on_cpu"}, {"operations", 3}, {"busy_us", 4.5}, {"of_us", 2000.0}}));
}

TEST(Json, NumbersThatAreNotFiniteAreAbsent) {
  Report report = sample::report();
  report.diagnosis.devices[0].span_us = std::numeric_limits<double>::infinity();
  report.diagnosis.findings[0].share = std::nan("");
  report.diagnosis.steps.mean_us = std::nan("");
  report.verification[0].measured.high = -std::numeric_limits<double>::infinity();
  const json parsed = json::parse(to_json(report, true));
  const json absent = {{"absent", "not_observed"}};
  EXPECT_EQ(parsed.at("devices").at(0).at("span_us"), absent);
  EXPECT_EQ(parsed.at("findings").at(0).at("share"), absent);
  EXPECT_EQ(parsed.at("steps").at("mean_us"), absent);
  EXPECT_EQ(parsed.at("verification").at(0).at("measured").at("high"), absent);
}

TEST(Json, AnyBytesGiveValidUtf8) {
  const Report report = sample::hostile_report();
  const json parsed = json::parse(to_json(report, true));
  const auto verdict = parsed.at("verdict").get<std::string>();
  EXPECT_NE(verdict.find("</script>"), std::string::npos);
  EXPECT_NE(verdict.find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_EQ(verdict.find('\xff'), std::string::npos);
}

TEST(JsonText, NoControlOfANameReachesATerminal) {
  // CSI in one character, an erased one, a mark that turns text around, and what stays.
  const std::string printed =
      "{\n  \"name\": \"\xC2\x9B\x7F\xE2\x80\xAE"
      "\xC3\xA9\"\n}\n";
  EXPECT_EQ(without_controls(printed), "{\n  \"name\": \"\\u009b\\u007f\\u202e\xC3\xA9\"\n}\n");
}

}  // namespace
}  // namespace unstarve::report
