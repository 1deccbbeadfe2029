#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/speedup.h"

namespace unstarve::predict {

/// A prediction beside what was measured when the remedy was tried.
struct TriedPrediction {
  std::string remedy;
  Speedup predicted;
  Speedup measured;
  bool held = false;
  std::string run;  // folder in which both were kept
};

/// How a remedy's predictions did.
struct TrackRecord {
  int tried = 0;
  int held = 0;
  double median_error = 0;  // of measured / predicted, as a ratio - 1, either way
  double wide_error = 0;    // the same that 90 % of them stay within
};

/// By remedy. Predictions or measurements that are no speed-up (not above 0) are left out.
std::map<std::string, TrackRecord> track_records(const std::vector<TriedPrediction>& tried);

/// True where so many predictions missed that the intervals cannot have been wide enough: of five
/// or more, above one in ten.
bool was_too_sure(const TrackRecord& record);

/// The same prediction with an interval that would have held nine of ten times; never a narrower
/// one.
Speedup widened(Speedup predicted, const TrackRecord& record);

}  // namespace unstarve::predict
