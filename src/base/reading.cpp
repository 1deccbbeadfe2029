#include "base/reading.h"

namespace unstarve {

std::string_view to_string(WhyAbsent why) {
  switch (why) {
    case WhyAbsent::kNotSupported: return "not_supported";
    case WhyAbsent::kNoPermission: return "no_permission";
    case WhyAbsent::kStale: return "stale";
    case WhyAbsent::kNotObserved: return "not_observed";
  }
  return "not_observed";
}

std::optional<WhyAbsent> parse_why_absent(std::string_view text) {
  for (const WhyAbsent why : {WhyAbsent::kNotSupported, WhyAbsent::kNoPermission, WhyAbsent::kStale,
                              WhyAbsent::kNotObserved}) {
    if (text == to_string(why)) return why;
  }
  return std::nullopt;
}

}  // namespace unstarve
