#include "report/buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace unstarve::report {

std::vector<Bucket> bucket_series(const Series& series, const BucketRange& range) {
  const int count = std::max(range.count, 1);
  const double width = (range.end_s - range.start_s) / count;
  std::vector<Bucket> buckets(static_cast<std::size_t>(count));
  std::vector<int> samples(buckets.size(), 0);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    buckets[i].t_s = range.start_s + (static_cast<double>(i) + 0.5) * width;
  }
  for (std::size_t i = 0; i < std::min(series.t_s.size(), series.value.size()); ++i) {
    const double t = series.t_s[i];
    const double value = series.value[i];
    if (!std::isfinite(value) || !(t >= range.start_s && t <= range.end_s)) continue;
    const double position = width > 0 ? (t - range.start_s) / width : 0;
    const auto at = std::min(buckets.size() - 1, static_cast<std::size_t>(position));
    Bucket& bucket = buckets[at];
    bucket.min = bucket.empty ? value : std::min(bucket.min, value);
    bucket.max = bucket.empty ? value : std::max(bucket.max, value);
    bucket.mean += (value - bucket.mean) / ++samples[at];
    bucket.empty = false;
  }
  return buckets;
}

std::vector<Series> since_training(std::vector<Series> all) {
  const bool known = std::all_of(all.begin(), all.end(), [](const Series& series) {
    return series.training_from_s && std::isfinite(*series.training_from_s);
  });
  if (!known) return all;
  for (Series& series : all) {
    for (double& t : series.t_s) t -= *series.training_from_s;
    if (series.training_until_s) {
      series.training_until_s = *series.training_until_s - *series.training_from_s;
    }
    series.training_from_s = 0.0;
  }
  return all;
}

BucketRange common_range(const std::vector<Series>& all, int count) {
  double start = std::numeric_limits<double>::infinity();
  double end = -start;
  for (const Series& series : all) {
    for (const double t : series.t_s) {
      if (!std::isfinite(t)) continue;
      start = std::min(start, t);
      end = std::max(end, t);
    }
  }
  if (!(start <= end)) return {0, 0, count};
  return {start, end, count};
}

double training_end_s(const std::vector<Series>& all) {
  double end = -std::numeric_limits<double>::infinity();
  for (const Series& series : all) {
    end = std::max(
        end, series.training_until_s ? *series.training_until_s : common_range({series}, 1).end_s);
  }
  return end;
}

}  // namespace unstarve::report
