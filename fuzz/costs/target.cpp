#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cost/rates/rates.h"

/// A file of prices may be anybody's: nothing crashes, and what is accepted is no negative price.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto said = unstarve::cost::read_rates(text, "costs.json");
  if (!said) return 0;
  if (said->price && said->price->value < 0) return -1;
  for (const auto& [name, rate] : said->by_name) {
    if (rate.value < 0) return -1;
  }
  return 0;
}
