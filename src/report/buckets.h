#pragma once

#include <vector>

#include "report/model/report_model.h"

namespace unstarve::report {

/// What a curve does within one stretch of time.
struct Bucket {
  double t_s = 0;  // middle of the stretch
  double min = 0;
  double max = 0;
  double mean = 0;    // of the samples, not weighted by time
  bool empty = true;  // no finite sample fell into it
};

/// A stretch of time and the number of equal buckets it is cut into.
struct BucketRange {
  double start_s = 0;
  double end_s = 0;
  int count = 1;
};

/// Buckets of a curve. Minimum and maximum are kept, so that a single idle sample of an hour-long
/// run is still seen.
std::vector<Bucket> bucket_series(const Series& series, const BucketRange& range);

/// The curves with their times since their training began, where that is known of each: then what
/// came before has negative times, and several runs lie beside each other. Else as they are.
std::vector<Series> since_training(std::vector<Series> all);

/// First and last time of all curves together; {0, 0} when there are none.
BucketRange common_range(const std::vector<Series>& all, int count);

/// When the last of them has trained; of a curve of which that is not known, its last time counts.
double training_end_s(const std::vector<Series>& all);

}  // namespace unstarve::report
