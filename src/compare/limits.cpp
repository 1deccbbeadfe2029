#include "compare/limits.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace unstarve::compare {

namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The unit of a measure; nothing where there is none of that id.
std::optional<Unit> unit_of(std::string_view id) {
  if (const Measure* const measure = measure_named(id)) return measure->unit;
  for (const RunMeasure& measure : run_measures()) {
    if (measure.id == id) return measure.unit;
  }
  return std::nullopt;
}

std::string all_ids() {
  std::string ids;
  for (const Measure& measure : step_measures()) ids += fmt::format(", {}", measure.id);
  for (const RunMeasure& measure : run_measures()) ids += fmt::format(", {}", measure.id);
  return ids.substr(2);
}

Result<Limit> parse_limit(std::string_view text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is no limit: write a measure, '<' or '>', and a number, as in 'step_time>5%'",
                text);
  }
  Limit limit;
  limit.text = text;
  limit.measure = without_blanks(text.substr(0, sign));
  limit.above = text[sign] == '>';
  const std::optional<Unit> unit = unit_of(limit.measure);
  if (!unit) {
    return fail(ErrorCode::kInvalidArgument, "'{}': there is no measure '{}'; there are {}", text,
                limit.measure, all_ids());
  }
  std::string_view number = without_blanks(text.substr(sign + 1));
  const bool percent = !number.empty() && number.back() == '%';
  if (percent) number = without_blanks(number.substr(0, number.size() - 1));
  const bool has_sign = !number.empty() && (number.front() == '+' || number.front() == '-');
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), limit.value);
  if (error != std::errc() || end != number.data() + number.size()) {
    return fail(ErrorCode::kInvalidArgument, "'{}': '{}' is no number", text,
                text.substr(sign + 1));
  }
  constexpr double kPercent = 100;
  limit.relative = percent && (has_sign || *unit != Unit::kRatio);
  if (percent) limit.value /= kPercent;
  return limit;
}

/// `beyond`: in the direction that breaks the limit.
bool is_beyond(const Limit& limit, double value) {
  return limit.above ? value > limit.value : value < limit.value;
}

}  // namespace

Result<std::vector<Limit>> parse_limits(std::string_view text) {
  std::vector<Limit> limits;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    const std::string_view one = without_blanks(text.substr(from, end - from));
    from = end + 1;
    if (one.empty()) continue;
    auto limit = parse_limit(one);
    if (!limit) return forward_error(limit);
    limits.push_back(*std::move(limit));
  }
  if (limits.empty()) return fail(ErrorCode::kInvalidArgument, "'{}' holds no limit", text);
  return limits;
}

Held judge(const Limit& limit, const Comparison& comparison) {
  const MeasureRow* const row = comparison.row(limit.measure);
  if (row == nullptr) return Held::kNotCompared;
  if (!limit.relative) {
    if (!row->b) return Held::kNotCompared;
    return is_beyond(limit, *row->b) ? Held::kBroken : Held::kHolds;
  }
  if (!row->change) return Held::kNotCompared;
  const Change& change = *row->change;
  const bool by_chance = change.low && change.high && !change.is_certain();
  return is_beyond(limit, change.value) && !by_chance ? Held::kBroken : Held::kHolds;
}

}  // namespace unstarve::compare
