#include "observe/import/decimal.h"

#include <charconv>
#include <limits>

namespace unstarve::observe {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits of a number and where its point is, exponent applied later.
struct Digits {
  std::int64_t value = 0;
  int count = 0;  // digits in value, without leading zeros
  int after_point = 0;
  bool dropped = false;   // digits that did not fit, all behind the point
  bool round_up = false;  // the first of those is 5 or more
};

constexpr int kMostDigits = 18;  // what always fits an int64

/// Reads digits and at most one point from the front of `text`; false when there is no digit or
/// the part before the point is too long.
bool take_digits(std::string_view& text, Digits& digits) {
  bool any = false;
  bool point = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    if (digits.count >= kMostDigits) {
      if (!point) return false;
      if (!digits.dropped) digits.round_up = c >= '5';
      digits.dropped = true;
      continue;
    }
    digits.value = digits.value * 10 + (c - '0');
    if (digits.value != 0) ++digits.count;
    if (point) ++digits.after_point;
  }
  text.remove_prefix(at);
  return any;
}

std::optional<int> take_exponent(std::string_view text) {
  if (text.empty()) return 0;
  if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
  text.remove_prefix(1);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (exponent < -100 || exponent > 100) return std::nullopt;
  return exponent;
}

/// value * 10^-places as thousandths and wholes.
std::optional<Decimal> scaled(const Digits& digits, int places) {
  std::int64_t value = digits.value;
  Decimal result;
  for (; places < 0; ++places) {
    if (value > std::numeric_limits<std::int64_t>::max() / 10) return std::nullopt;
    value *= 10;
  }
  bool round_up = digits.round_up;
  for (; places > 3; --places) {
    round_up = value % 10 >= 5;
    result.has_fraction = result.has_fraction || value % 10 != 0;
    value /= 10;
  }
  // With fewer than three places left nothing was dropped, unless 18 digits were too few.
  if (round_up && places == 3) ++value;
  std::int64_t unit = 1;
  for (int i = 0; i < places; ++i) unit *= 10;
  result.whole = value / unit;
  result.thousandths = static_cast<std::int32_t>(value % unit * (1000 / unit));
  result.has_fraction = result.has_fraction || result.thousandths != 0;
  return result;
}

}  // namespace

std::string_view without_quotes(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text.remove_prefix(1);
    text.remove_suffix(1);
  }
  return text;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  text = without_quotes(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  Digits digits;
  if (!take_digits(text, digits)) return std::nullopt;
  const std::optional<int> exponent = take_exponent(text);
  if (!exponent) return std::nullopt;
  if (digits.value == 0) return Decimal{};
  std::optional<Decimal> result = scaled(digits, digits.after_point - *exponent);
  if (result && negative) {
    result->whole = -result->whole;
    result->thousandths = -result->thousandths;
  }
  return result;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = without_quotes(text);
  if (text.starts_with("0x")) {
    std::int64_t value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, value, 16);
    if (error != std::errc() || end != last) return std::nullopt;
    return value;
  }
  const std::optional<Decimal> number = parse_decimal(text);
  if (!number || number->has_fraction) return std::nullopt;
  return number->whole;
}

}  // namespace unstarve::observe
