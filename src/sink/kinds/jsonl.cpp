#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "report/json.h"
#include "report/words/utf8.h"
#include "sink/sink.h"
#include "sink/wire/output_file.h"
#include "trace/json/json_text.h"

namespace unstarve::sink {

namespace {

using Json = nlohmann::ordered_json;

/// How a step was told.
const char* told_by(trace::StepSource source) {
  switch (source) {
    case trace::StepSource::kLoaderBatch: return "batch";
    case trace::StepSource::kBackward: return "backward";
    case trace::StepSource::kModelCall: return "model_call";
    default: return "optimizer";
  }
}

/// One JSON object a line (docs/formats/run_lines.md).
class JsonLines final : public Sink {
 public:
  explicit JsonLines(OutputFile file) : file_(std::move(file)) {}

  Status begins(const RunStart& run) override {
    started_ns_ = run.started_ns;
    Json line = {{"event", "run"}, {"schema", "unstarve.run_lines/1"}};
    line["run_id"] = run.run_id;
    line["run_dir"] = run.run_dir;
    line["host"] = run.host;
    line["command"] = run.command;
    line["started_s"] = static_cast<double>(run.started_wall_ns) * kSecondsPerNs;
    return write(line);
  }

  Status takes(const Sample& sample) override {
    Json line = {{"event", "sample"}, {"t_s", since_start(sample.t_ns)}};
    line["metric"] = sample.metric.name;
    line["subject"] = sample.metric.subject;
    line["unit"] = sample.metric.unit;
    add(line, "value", sample.value);
    return write(line);
  }

  Status takes(const trace::StepRow& step) override {
    Json line = {{"event", "step"}, {"t_s", since_start(step.when.end_ns)}};
    line["pid"] = step.pid;
    line["index"] = step.index;
    line["duration_s"] = static_cast<double>(step.when.duration_ns()) * kSecondsPerNs;
    add(line, "samples", step.samples);
    line["told_by"] = told_by(step.source);
    return write(line);
  }

  Status ends(const RunEnd& end) override {
    Json line = {{"event", "end"}, {"t_s", since_start(end.ended_ns)}};
    if (end.exit_code) line["exit_code"] = *end.exit_code;
    if (end.exit_signal != 0) line["exit_signal"] = end.exit_signal;
    return write(line);
  }

  bool wants_verdict() const override { return true; }

  Status takes(const report::Report& verdict) override {
    const bool tried = !verdict.verification.empty();
    Json line = {{"event", "verdict"}};
    line["diagnosis"] = Json::parse(report::to_json(verdict, tried));
    return write(line);
  }

  Status flush() override { return file_.flush(); }

 private:
  double since_start(std::int64_t t_ns) const {
    return static_cast<double>(t_ns - started_ns_) * kSecondsPerNs;
  }

  /// The value, or null beside the reason. JSON has no word for what is not finite.
  template <class T>
  static void add(Json& line, const char* name, const Reading<T>& reading) {
    const bool is_there = reading && std::isfinite(static_cast<double>(*reading));
    line[name] = is_there ? Json(*reading) : Json(nullptr);
    if (!is_there)
      line["absent"] = to_string(reading ? WhyAbsent::kNotObserved : reading.why_absent());
  }

  Status write(const Json& line) {
    return file_.write(
        report::without_controls(line.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n");
  }

  OutputFile file_;
  std::int64_t started_ns_ = 0;
};

Result<std::unique_ptr<Sink>> open_json_lines(const std::string& target) {
  auto file = OutputFile::open(target);
  if (!file) return forward_error(file);
  return std::make_unique<JsonLines>(*std::move(file));
}

}  // namespace

SinkKind jsonl_sink();
SinkKind jsonl_sink() { return {"jsonl", "one JSON object a line", &open_json_lines}; }

}  // namespace unstarve::sink
