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
  // A value that is one of the ends says nothing beside them.
  const std::string value = number_text(speedup.speedup);
  const bool is_low = value == number_text(speedup.low);
  const bool is_high = value == number_text(speedup.high);
  if (is_low && is_high) return factor_text(speedup.speedup) + " faster";
  if (is_low || is_high) {
    return fmt::format("{} to {} faster", factor_text(speedup.low), factor_text(speedup.high));
  }
  return fmt::format("{} faster, {} to {}", factor_text(speedup.speedup), number_text(speedup.low),
                     number_text(speedup.high));
}

}  // namespace unstarve::predict
