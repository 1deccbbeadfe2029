#include "observe/import/decimal.h"

#include <charconv>
#include <limits>

namespace unstarve::observe {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Digits of a number and where its point is, exponent applied later.
struct Digits {
  std::int64_t value = 0;
  int after_point = 0;
  bool full = false;      // the next digits do not fit; all of them are behind the point
  bool round_up = false;  // the first of those is 5 or more
  bool lost_any = false;  // one of those is not 0
};

/// What always fits an int64.
constexpr std::size_t kUsualDigits = 18;

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
    std::int64_t longer = 0;
    if (!digits.full && !__builtin_mul_overflow(digits.value, 10, &longer) &&
        !__builtin_add_overflow(longer, c - '0', &longer)) {
      digits.value = longer;
      if (point) ++digits.after_point;
      continue;
    }
    if (!point) return false;
    if (!digits.full) digits.round_up = c >= '5';
    digits.full = true;
    digits.lost_any = digits.lost_any || c != '0';
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
  result.has_fraction = digits.lost_any;
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
  // With fewer than three places nothing is left to round, unless 19 digits were too few.
  if (round_up && places == 3) ++value;
  std::int64_t unit = 1;
  for (int i = 0; i < places; ++i) unit *= 10;
  result.whole = value / unit;
  result.thousandths = static_cast<std::int32_t>(value % unit * (1000 / unit));
  result.has_fraction = result.has_fraction || result.thousandths != 0;
  return result;
}

/// What nearly every number in a trace looks like: fewer than 18 digits, perhaps a point and up to
/// three more. Nothing for any other form, which the general way below then takes.
std::optional<Decimal> parse_usual(std::string_view text) {
  Decimal result;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    result.whole = result.whole * 10 + (text[at] - '0');
    if (at == kUsualDigits - 1) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  if (at == text.size()) return result;
  const std::string_view places = text.substr(at + 1);
  if (text[at] != '.' || places.empty() || places.size() > 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const char digit = i < places.size() ? places[i] : '0';
    if (!is_digit(digit)) return std::nullopt;
    result.thousandths = result.thousandths * 10 + (digit - '0');
  }
  result.has_fraction = result.thousandths != 0;
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
  if (const auto usual = parse_usual(text)) return usual;
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
