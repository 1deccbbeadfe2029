#include "predict/track_record.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "predict/resampling.h"

namespace unstarve::predict {

namespace {

// Fewer say nothing: of four that should hold nine times of ten, one misses every third time.
constexpr int kFewestTried = 5;
constexpr double kMayMiss = 0.1;

}  // namespace

std::map<std::string, TrackRecord> track_records(const std::vector<TriedPrediction>& tried) {
  std::map<std::string, TrackRecord> records;
  std::map<std::string, std::vector<double>> errors;
  for (const TriedPrediction& prediction : tried) {
    const double ratio = prediction.measured.speedup / prediction.predicted.speedup;
    if (!(prediction.predicted.speedup > 0 && prediction.measured.speedup > 0 &&
          std::isfinite(ratio))) {
      continue;
    }
    TrackRecord& record = records[prediction.remedy];
    ++record.tried;
    record.held += prediction.held ? 1 : 0;
    errors[prediction.remedy].push_back(std::expm1(std::abs(std::log(ratio))));
  }
  for (auto& [remedy, record] : records) {
    record.median_error = quantile(errors[remedy], 0.5);
    record.wide_error = quantile(errors[remedy], 1 - kMayMiss);
  }
  return records;
}

bool was_too_sure(const TrackRecord& record) {
  return record.tried >= kFewestTried && record.tried - record.held > kMayMiss * record.tried;
}

Speedup widened(Speedup predicted, const TrackRecord& record) {
  if (!was_too_sure(record)) return predicted;
  const double factor = 1 + record.wide_error;
  predicted.low = std::min(predicted.low, predicted.speedup / factor);
  predicted.high = std::max(predicted.high, predicted.speedup * factor);
  return predicted;
}

}  // namespace unstarve::predict
