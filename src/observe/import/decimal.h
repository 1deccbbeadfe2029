#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace unstarve::observe {

/// A number from a JSON text without the detour through double, which cannot hold today's date in
/// microseconds with three more digits: `whole` + `thousandths` / 1000.
struct Decimal {
  std::int64_t whole = 0;
  std::int32_t thousandths = 0;  // same sign as the number
  bool has_fraction = false;     // a digit other than 0 after the point
};

/// Reads "1623142623460111", "4203669604595.407", "-1.5e3", also in quotes; more than three digits
/// after the point are rounded. Nothing for text that is no number or does not fit.
std::optional<Decimal> parse_decimal(std::string_view text);

/// Reads an integer: "7", "7.0", "\"25738\"", "0x1f" (in quotes).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// `text` without surrounding white space and without one pair of surrounding quotes.
std::string_view without_quotes(std::string_view text);

}  // namespace unstarve::observe
