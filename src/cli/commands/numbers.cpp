#include "cli/commands/numbers.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

namespace unstarve::cli {

CLI::Validator number_between(double low, double high) {
  const std::string range = fmt::format("{} to {}", low, high);
  const auto check = [low, high, range](std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, number);
    // A number that is none (nan) is not between any two.
    const bool good = failed == std::errc() && rest == end && number >= low && number <= high;
    return good ? std::string() : fmt::format("takes a number from {}, not '{}'", range, text);
  };
  return CLI::Validator(check, range, "number");
}

}  // namespace unstarve::cli
