#pragma once

#include <gtest/gtest.h>

#include <string>

#include "trace/run_writer.h"

namespace unstarve::runs {

struct WrittenRun {
  std::int64_t started_wall_ns = 1'000'000'000'000'000'000;
  int exit_code = 0;
  bool has_ended = true;
  std::string stage = {};
  std::string watcher = {};
  std::int64_t steps = 3;
};

/// Writes a run of a few steps with a finding and a prediction.
inline void write_run(const std::string& dir, const WrittenRun& run = {}) {
  trace::RunInfo info;
  info.run_id = "r";
  info.command = {"python", "train.py"};
  info.started_wall_ns = run.started_wall_ns;
  info.started_ns = 1'000'000'000;
  info.host = "machine";
  info.device_kind = "cuda";
  info.unstarve_version = "0.1.0";
  info.watcher = run.watcher;
  auto writer = trace::RunWriter::create(dir, info, {});
  ASSERT_TRUE(writer) << writer.error().message;
  if (!run.stage.empty()) (*writer)->put("stage", run.stage);
  for (std::int64_t i = 0; i < run.steps; ++i) {
    trace::StepRow step;
    step.pid = step.thread = 9;
    step.index = i;
    step.when = {1'000'000'000 + i * 1'000'000, 1'000'000'000 + (i + 1) * 1'000'000};
    (*writer)->add(step);
  }
  trace::FindingRow finding;
  finding.cause = "input_wait";
  finding.detail = "decode_cpu";
  finding.share = 0.6;
  finding.confidence = "clear";
  finding.evidence_json = finding.remedies_json = "[]";
  (*writer)->add(finding);
  trace::PredictionRow prediction;
  prediction.remedy = "more_workers";
  prediction.predicted_speedup = 2;
  prediction.low = 1.5;
  prediction.high = 2.5;
  (*writer)->add(prediction);
  ASSERT_TRUE((*writer)->commit());
  if (!run.has_ended) return;
  ASSERT_TRUE((*writer)->finish(13'000'000'000, run.exit_code));
}

}  // namespace unstarve::runs
