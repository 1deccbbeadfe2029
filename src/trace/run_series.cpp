#include "trace/run_series.h"

namespace unstarve::trace {

std::vector<SeriesPoint> points_in(const RunReader& run, std::string_view metric,
                                   std::string_view subject, const Interval& when) {
  std::vector<SeriesPoint> inside;
  const auto series = run.series(metric, subject);
  if (!series) return inside;
  const SeriesPoint* last_before = nullptr;
  for (const SeriesPoint& point : *series) {
    if (point.t_ns < when.start_ns) last_before = &point;
    if (point.t_ns >= when.start_ns && point.t_ns <= when.end_ns) inside.push_back(point);
  }
  if (inside.empty() && last_before != nullptr) inside.push_back(*last_before);
  return inside;
}

std::vector<SampledSpan> spans_in(const RunReader& run, std::string_view metric,
                                  std::string_view subject, const Interval& when) {
  std::vector<SampledSpan> spans;
  const auto series = run.series(metric, subject);
  if (!series) return spans;
  for (std::size_t i = 1; i < series->size(); ++i) {
    const SeriesPoint& point = (*series)[i];
    const std::int64_t from_ns = (*series)[i - 1].t_ns;
    if (from_ns < when.start_ns || point.t_ns > when.end_ns) continue;
    if (!run.thinning().is_whole(from_ns, point.t_ns)) continue;
    spans.push_back({{from_ns, point.t_ns}, point.value});
  }
  return spans;
}

Reading<double> mean_in(const RunReader& run, std::string_view metric, std::string_view subject,
                        const Interval& when) {
  double sum = 0;
  double count = 0;
  WhyAbsent why = WhyAbsent::kNotObserved;
  for (const SeriesPoint& point : points_in(run, metric, subject, when)) {
    if (!point.value) {
      why = point.value.why_absent();
      continue;
    }
    sum += *point.value;
    ++count;
  }
  if (const auto thinned = run.thinned(metric, subject, when); thinned && thinned->samples > 0) {
    sum += thinned->value;
    count += static_cast<double>(thinned->samples);
  }
  if (count == 0) return why;
  return sum / count;
}

}  // namespace unstarve::trace
