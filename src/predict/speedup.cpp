#include "predict/speedup.h"

#include <fmt/format.h>

#include "base/number_words.h"

namespace unstarve::predict {

std::string speedup_text(const Speedup& speedup) {
  return fmt::format("{} [{}]", factor_text(speedup.speedup), interval_text(speedup));
}

std::string interval_text(const Speedup& speedup) {
  return fmt::format("{}..{}", number_text(speedup.low), number_text(speedup.high));
}

std::string speedup_words(const Speedup& speedup) {
  return fmt::format("{} faster, {} to {}", factor_text(speedup.speedup), number_text(speedup.low),
                     number_text(speedup.high));
}

}  // namespace unstarve::predict
