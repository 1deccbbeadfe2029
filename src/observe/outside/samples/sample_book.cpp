#include "observe/outside/samples/sample_book.h"

namespace unstarve::observe {

void SampleBook::put(const MetricDescriptor& metric, std::string_view subject,
                     const Reading<double>& value) {
  // The name lives as long as the program: descriptors are constants.
  Entry& entry = entries_[Key(metric.name, std::string(subject))];
  if (entry.id == 0) {
    trace::MetricRow row;
    row.name = std::string(metric.name);
    row.unit = std::string(metric.unit);
    row.source = std::string(metric.source);
    row.subject = std::string(subject);
    row.description = std::string(metric.description);
    entry.id = writer_.add_metric(row);
  }
  const bool still_absent =
      entry.written && !value && !entry.value && entry.value.why_absent() == value.why_absent();
  entry.value = value;
  if (still_absent) return;
  entry.written = true;
  trace::SampleRow row;
  row.t_ns = now_ns_;
  row.metric_id = entry.id;
  row.value = value;
  writer_.add(row);
}

std::vector<LatestSample> SampleBook::latest() const {
  std::vector<LatestSample> samples;
  samples.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    samples.push_back({std::string(key.first), key.second, entry.value});
  }
  return samples;
}

Reading<double> SampleBook::latest(std::string_view name, std::string_view subject) const {
  const auto entry = entries_.find(Key(name, std::string(subject)));
  return entry == entries_.end() ? Reading<double>() : entry->second.value;
}

Reading<double> Rate::per_second(const Reading<double>& counter, std::int64_t now_ns) {
  Reading<double> rate = counter ? WhyAbsent::kNotObserved : counter.why_absent();
  if (counter && last_ && now_ns > last_ns_ && *counter >= *last_) {
    rate = (*counter - *last_) * 1e9 / static_cast<double>(now_ns - last_ns_);
  }
  last_ = counter;
  last_ns_ = now_ns;
  return rate;
}

}  // namespace unstarve::observe
