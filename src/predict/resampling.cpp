#include "predict/resampling.h"

namespace unstarve::predict {

double Draw::in(const Range& range) {
  return std::uniform_real_distribution<double>(range.low, range.high)(engine_);
}

std::size_t Draw::index(std::size_t size) {
  return std::uniform_int_distribution<std::size_t>(0, size - 1)(engine_);
}

double resampled_mean(const std::vector<double>& values, Draw& draw) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += values[draw.index(values.size())];
  return sum / static_cast<double>(values.size());
}

}  // namespace unstarve::predict
