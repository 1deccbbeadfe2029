#pragma once

namespace unstarve::predict {

/// Old step time / new step time, with an interval (by resampling steps; see pipeline_model.h).
struct Speedup {
  double speedup = 1.0;
  double low = 1.0;
  double high = 1.0;
};

}  // namespace unstarve::predict
