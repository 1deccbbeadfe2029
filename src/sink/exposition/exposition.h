#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sink/sink.h"

namespace unstarve::sink {

/// A metric as Prometheus knows it, with its series: labels, value.
struct Family {
  std::string_view name;
  std::string_view type;  // "gauge", "counter"
  std::string_view help;
  std::vector<std::pair<std::string, double>> series;  // none: left out, since a job has too many
};

/// What a run shows so far, by Prometheus's conventions. Whatever was not observed has no series:
/// it is never 0.
class Exposition final : public Sink {
 public:
  Status begins(const RunStart& run) override;
  Status takes(const Sample& sample) override;
  Status takes(const trace::StepRow& step) override;
  Status takes(const trace::WaitRow& wait) override;
  Status ends(const RunEnd& end) override;
  bool wants_verdict() const override { return true; }
  Status takes(const report::Report& verdict) override;

  std::vector<Family> families() const;

 private:
  /// A metric of ours and what it is called there.
  struct Exposed;
  static const Exposed kOfTheJob[];
  static const Exposed kOfAGpu[];

  void add_run(std::vector<Family>& families) const;
  void add_job(std::vector<Family>& families) const;
  void add_gpus(std::vector<Family>& families) const;
  std::string labels(std::string_view others) const;
  bool is_shown(const Exposed& exposed, const Reading<double>& value) const;
  double wall_s(std::int64_t monotonic_ns) const;

  bool has_begun_ = false;
  std::string run_;
  std::string info_;
  RunStart start_;
  std::map<std::pair<std::string, std::string>, Reading<double>> latest_;  // metric, subject
  std::int64_t steps_ = 0;
  std::int64_t step_ns_ = 0;
  std::int64_t last_step_ns_ = 0;
  std::optional<std::int64_t> samples_;
  std::int64_t waited_ns_ = 0;
  std::optional<RunEnd> end_;
  std::vector<std::pair<std::string, double>> findings_;
};

/// The text that Prometheus reads (format 0.0.4), of one run or of several: families of one name
/// are one there.
std::string exposition_text(std::span<const Family> families);

}  // namespace unstarve::sink
