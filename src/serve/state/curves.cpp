#include "serve/state/curves.h"

#include <limits>
#include <utility>

#include "base/units.h"
#include "report/tracks.h"

namespace unstarve::serve {

namespace {

constexpr std::size_t kPortion = 50'000;
/// A run that goes on drops samples of its past while what was read of it stays here: from so many
/// on all is read anew.
constexpr std::size_t kSamplesMax = 3'000'000;

}  // namespace

Status Curves::update(const std::string& run_dir) {
  const auto run = trace::RunReader::open(run_dir);
  if (!run) return forward_error(run);
  if (samples_ > kSamplesMax) *this = Curves();
  if (const Status read = read_metrics(*run); !read) return read;
  if (const Status read = read_samples(*run); !read) return read;
  if (const Status read = steps_.update(*run); !read) return read;
  training_from_s_ = report::training_from_s(*run);
  return {};
}

std::vector<const Curve*> Curves::all() const {
  std::vector<const Curve*> all;
  for (const std::vector<Curve>* const some : {&curves_, &steps_.all()}) {
    for (const Curve& curve : *some) {
      if (!curve.series.t_s.empty()) all.push_back(&curve);
    }
  }
  return all;
}

std::vector<const Curve*> Curves::find(std::string_view metric, std::string_view subject) const {
  std::vector<const Curve*> found;
  for (const Curve* const curve : all()) {
    if (curve->metric.name != metric) continue;
    if (subject.empty() || curve->metric.subject == subject) found.push_back(curve);
  }
  return found;
}

Status Curves::read_metrics(const trace::RunReader& run) {
  auto metrics = run.metrics();
  if (!metrics) return forward_error(metrics);
  for (trace::MetricRow& metric : *metrics) {
    if (by_id_.contains(metric.id)) continue;
    by_id_.emplace(metric.id, curves_.size());
    Curve curve;
    curve.series.label = metric.subject;
    curve.metric = std::move(metric);
    curves_.push_back(std::move(curve));
  }
  return {};
}

Status Curves::read_samples(const trace::RunReader& run) {
  const std::int64_t started_ns = run.number("started_ns");
  while (true) {
    const auto samples = run.samples_after(last_row_, kPortion);
    if (!samples) return forward_error(samples);
    for (const trace::StoredSample& sample : *samples) {
      last_row_ = sample.row;
      const auto known = by_id_.find(sample.metric_id);
      if (known == by_id_.end()) continue;  // it was added behind the list of metrics
      report::Series& series = curves_[known->second].series;
      series.t_s.push_back(static_cast<double>(sample.point.t_ns - started_ns) * kSecondsPerNs);
      series.value.push_back(sample.point.value.value_or(std::numeric_limits<double>::quiet_NaN()));
      ++samples_;
    }
    if (samples->size() < kPortion) return {};
  }
}

}  // namespace unstarve::serve
