#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace unstarve::predict {

/// A range that a parameter is drawn from, uniformly.
struct Range {
  double low = 1;
  double high = 1;
};

/// Random draws that depend on the seed alone, so that a report can be made again.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double in(const Range& range);
  /// 0 .. size-1
  std::size_t index(std::size_t size);

 private:
  std::mt19937_64 engine_;
};

/// Mean of as many values as there are, drawn with replacement.
double resampled_mean(const std::vector<double>& values, Draw& draw);

}  // namespace unstarve::predict
