#pragma once

#include <string>

namespace unstarve::predict {

/// Old step time / new step time, with an interval (by resampling steps; see pipeline_model.h).
struct Speedup {
  double speedup = 1.0;
  double low = 1.0;
  double high = 1.0;
};

/// "3.85x [3.61..4.10]"
std::string speedup_text(const Speedup& speedup);
/// The interval alone: "3.61..4.10".
std::string interval_text(const Speedup& speedup);
/// In a sentence: "3.85x faster, 3.61 to 4.10"; where the value is an end of its interval,
/// "31.4x to 58.5x faster".
std::string speedup_words(const Speedup& speedup);

}  // namespace unstarve::predict
