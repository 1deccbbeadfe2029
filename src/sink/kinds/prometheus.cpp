#include <memory>
#include <string>
#include <utility>

#include "base/io/write.h"
#include "base/result.h"
#include "sink/exposition/exposition.h"
#include "sink/sink.h"

namespace unstarve::sink {

namespace {

/// A file for the textfile collector of Prometheus's node exporter (docs/exporting.md). It
/// is replaced at once with each portion; standard output gets one text, at the end.
class PrometheusFile final : public Sink {
 public:
  explicit PrometheusFile(std::string target) : target_(std::move(target)) {}

  Status begins(const RunStart& run) override { return exposition_.begins(run); }
  Status takes(const Sample& sample) override { return exposition_.takes(sample); }
  Status takes(const trace::StepRow& step) override { return exposition_.takes(step); }
  Status takes(const trace::WaitRow& wait) override { return exposition_.takes(wait); }
  Status ends(const RunEnd& end) override { return exposition_.ends(end); }
  bool wants_verdict() const override { return true; }
  Status takes(const report::Report& verdict) override { return exposition_.takes(verdict); }
  Status flush() override { return target_ == "-" ? Status{} : io::replace_file(target_, text()); }
  Status finish() override {
    constexpr int kStandardOutput = 1;
    return target_ == "-" ? io::write_all(kStandardOutput, text()) : flush();
  }

 private:
  std::string text() const { return exposition_text(exposition_.families()); }

  std::string target_;
  Exposition exposition_;
};

Result<std::unique_ptr<Sink>> open_prometheus(const std::string& target) {
  if (target != "-") {
    const Status replaceable = io::check_replaceable(target);
    if (!replaceable) return forward_error(replaceable);
  }
  return std::make_unique<PrometheusFile>(target);
}

}  // namespace

SinkKind prometheus_sink();
SinkKind prometheus_sink() {
  return {"prometheus", "a text for node exporter's textfile collector, ending in .prom",
          &open_prometheus};
}

}  // namespace unstarve::sink
