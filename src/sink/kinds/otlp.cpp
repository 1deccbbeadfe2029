#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "sink/sink.h"
#include "sink/wire/gpu_subject.h"
#include "sink/wire/http_poster.h"
#include "sink/wire/output_file.h"
#include "sink/wire/second_means.h"

namespace unstarve::sink {

namespace {

using OtlpJson = nlohmann::ordered_json;

/// How a metric of ours is called by OpenTelemetry's conventions, where they have a name for it.
/// https://opentelemetry.io/docs/specs/semconv/hardware/gpu/ (in development)
struct Convention {
  std::string_view metric;
  std::string_view name;
  std::string_view unit;
  bool grows = false;  // a sum since some moment, not a gauge
};
constexpr std::array<Convention, 6> kConventions = {
    {{"gpu.utilization_ratio", "hw.gpu.utilization", "1"},
     {"gpu.memory_used_bytes", "hw.gpu.memory.usage", "By"},
     {"gpu.energy_j", "hw.energy", "J", true},
     {"gpu.power_w", "hw.power", "W"},
     {"gpu.temperature_c", "hw.temperature", "Cel"},
     {"gpu.xid_errors", "hw.errors", "{error}", true}}};

/// Our units as UCUM has them.
std::string ucum(const std::string& unit) {
  static const std::map<std::string, std::string, std::less<>> kKnown = {
      {"bytes", "By"},     {"bytes/s", "By/s"},
      {"ratio", "1"},      {"count", "1"},
      {"C", "Cel"},        {"ns", "ns"},
      {"W", "W"},          {"J", "J"},
      {"cores", "{core}"}, {"threads", "{thread}"},
      {"1/s", "1/s"},      {"MHz", "MHz"},
      {"s", "s"}};
  const auto known = kKnown.find(unit);
  return known == kKnown.end() ? "{" + unit + "}" : known->second;
}

OtlpJson attribute(std::string_view name, const std::string& value) {
  return {{"key", name}, {"value", {{"stringValue", value}}}};
}

/// Where requests go: a file's lines, or a collector.
class Destination {
 public:
  static Result<Destination> open(const std::string& target) {
    Destination opened;
    if (target.starts_with("http://") || target.starts_with("https://")) {
      auto poster = HttpPoster::open(target);
      if (!poster) return forward_error(poster);
      opened.poster_ = *std::move(poster);
      return opened;
    }
    auto file = OutputFile::open(target);
    if (!file) return forward_error(file);
    opened.file_ = *std::move(file);
    return opened;
  }

  /// A collector that is not there costs points, and ends nothing before the end.
  Status write(std::string request) {
    if (file_) return file_->write(request + "\n");
    poster_->add(std::move(request));
    return {};
  }
  Status flush() {
    if (file_) return file_->flush();
    poster_->send();
    return {};
  }
  Status finish() { return file_ ? file_->flush() : poster_->finish(); }

 private:
  std::optional<OutputFile> file_;
  std::unique_ptr<HttpPoster> poster_;
};

/// Metrics as OpenTelemetry's file exporter writes them: a line for each request, which a collector
/// reads by its receiver `otlpjsonfile`; or posted to its /v1/metrics. One point a second for each
/// metric.
class OtlpRequests final : public Sink {
 public:
  explicit OtlpRequests(Destination destination) : destination_(std::move(destination)) {}

  Status begins(const RunStart& run) override {
    run_ = run;
    resource_ = OtlpJson::array();
    resource_.push_back(attribute("service.name", "unstarve"));
    resource_.push_back(attribute("service.version", run.unstarve_version));
    resource_.push_back(attribute("host.name", run.host));
    resource_.push_back(attribute("unstarve.run.id", run.run_id));
    for (const auto& [name, value] : run.scheduler) {
      resource_.push_back(attribute("unstarve.scheduler." + name, value));
    }
    return {};
  }

  Status takes(const Sample& sample) override {
    if (!sample.value || !std::isfinite(*sample.value)) return {};
    const std::string key = sample.metric.name + ' ' + sample.metric.subject;
    if (metrics_.count(key) == 0) metrics_[key] = sample.metric;
    note(key, sample.t_ns, *sample.value);
    return {};
  }

  Status takes(const trace::StepRow& step) override {
    ++steps_;
    grown_ns_ = std::max(grown_ns_, step.when.end_ns);
    return {};
  }

  Status takes(const trace::WaitRow& wait) override {
    waited_ns_ += wait.when.duration_ns();
    grown_ns_ = std::max(grown_ns_, wait.when.end_ns);
    return {};
  }

  Status flush() override {
    add_totals();
    return write();
  }

  Status finish() override {
    for (const auto& [key, mean] : means_.close()) add_mean(key, mean);
    const Status written = write();
    const Status finished = destination_.finish();
    return written ? finished : written;
  }

 private:
  void note(const std::string& key, std::int64_t t_ns, double value) {
    if (const auto mean = means_.note(key, t_ns - run_.started_ns, value)) add_mean(key, *mean);
  }

  /// 64-bit integers are texts in JSON of Protocol Buffers.
  std::string unix_ns(std::int64_t since_start_ns) const {
    return fmt::format("{}", run_.started_wall_ns + since_start_ns);
  }

  void add_mean(const std::string& key, const SecondMeans::Mean& mean) {
    const trace::MetricRow& metric = metrics_.at(key);
    OtlpJson point = {{"timeUnixNano", unix_ns((mean.second + 1) * kSecondNs)},
                      {"asDouble", mean.value},
                      {"attributes", attributes_of(metric)}};
    for (const Convention& one : kConventions) {
      if (one.metric != metric.name) continue;
      add(std::string(one.name), std::string(one.unit), std::move(point), one.grows);
      return;
    }
    add("unstarve." + metric.name, ucum(metric.unit), std::move(point), false);
  }

  OtlpJson attributes_of(const trace::MetricRow& metric) const {
    OtlpJson attributes = OtlpJson::array();
    if (!metric.name.starts_with("gpu.")) {
      attributes.push_back(attribute("unstarve.subject", metric.subject));
      return attributes;
    }
    attributes.push_back(attribute("hw.type", "gpu"));
    attributes.push_back(attribute("hw.name", metric.subject));
    const auto gpu = gpu_of(metric.subject);
    const std::string uuid = gpu ? uuid_of(run_, *gpu) : std::string();
    if (!uuid.empty()) attributes.push_back(attribute("hw.id", uuid));
    return attributes;
  }

  /// Steps and waits so far.
  void add_totals() {
    if (grown_ns_ == 0) return;
    const std::string at = unix_ns(grown_ns_ - run_.started_ns);
    const OtlpJson start = unix_ns(0);
    add("unstarve.steps", "{step}",
        {{"startTimeUnixNano", start}, {"timeUnixNano", at}, {"asInt", fmt::format("{}", steps_)}},
        true);
    add("unstarve.input_wait", "s",
        {{"startTimeUnixNano", start},
         {"timeUnixNano", at},
         {"asDouble", static_cast<double>(waited_ns_) * kSecondsPerNs}},
        true);
    grown_ns_ = 0;
  }

  void add(const std::string& name, const std::string& unit, OtlpJson point, bool grows) {
    OtlpJson& metric = pending_[name];
    const char* const kind = grows ? "sum" : "gauge";
    if (metric.is_null()) {
      metric = {{"name", name}, {"unit", unit}, {kind, {{"dataPoints", OtlpJson::array()}}}};
      constexpr int kCumulative = 2;
      if (grows) {
        metric[kind]["aggregationTemporality"] = kCumulative;
        metric[kind]["isMonotonic"] = true;
      }
    }
    metric[kind]["dataPoints"].push_back(std::move(point));
  }

  Status write() {
    if (pending_.empty()) return destination_.flush();
    OtlpJson metrics = OtlpJson::array();
    for (auto& [name, metric] : pending_) metrics.push_back(std::move(metric));
    pending_.clear();
    const OtlpJson scope = {{"scope", {{"name", "unstarve"}, {"version", run_.unstarve_version}}},
                            {"metrics", std::move(metrics)}};
    const OtlpJson of_resource = {{"resource", {{"attributes", resource_}}},
                                  {"scopeMetrics", OtlpJson::array({scope})}};
    const OtlpJson request = {{"resourceMetrics", OtlpJson::array({of_resource})}};
    const Status written =
        destination_.write(request.dump(-1, ' ', false, OtlpJson::error_handler_t::replace));
    return written ? destination_.flush() : written;
  }

  Destination destination_;
  RunStart run_;
  OtlpJson resource_;
  std::map<std::string, trace::MetricRow> metrics_;
  SecondMeans means_;
  std::map<std::string, OtlpJson> pending_;  // by name
  std::int64_t steps_ = 0;
  std::int64_t waited_ns_ = 0;
  std::int64_t grown_ns_ = 0;  // when they last did; 0: not since they were written
};

Result<std::unique_ptr<Sink>> open_otlp(const std::string& target) {
  auto destination = Destination::open(target);
  if (!destination) return forward_error(destination);
  return std::make_unique<OtlpRequests>(*std::move(destination));
}

}  // namespace

SinkKind otlp_sink();
SinkKind otlp_sink() {
  return {"otlp",
          "OpenTelemetry metrics as OTLP's JSON: lines of a file, or posted to a collector's "
          "http://HOST:4318/v1/metrics",
          &open_otlp};
}

}  // namespace unstarve::sink
