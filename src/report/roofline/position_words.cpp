#include "report/roofline/position_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/number_words.h"
#include "base/units.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

/// "480 G", "38.5 M", "212 ": three digits and the scale's letter.
std::string scaled(double value) {
  constexpr std::array<std::pair<double, const char*>, 6> kScales = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}};
  const auto scale = std::find_if(kScales.begin(), kScales.end() - 1,
                                  [value](const auto& each) { return value >= each.first; });
  return fmt::format("{:.3g} {}", value / scale->first, scale->second);
}

}  // namespace

std::string rate_text(double value, const std::string& unit) {
  if (unit == "s") return seconds_text(value);
  if (unit == "images/s") return fmt::format("{:.0f} images/s", value);
  std::string word = unit;
  if (unit == "bytes/s") word = "B/s";
  if (unit == "flop/s") word = "FLOP/s";
  if (unit == "1/s") word = "/s";
  return scaled(value) + word;
}

std::string amount_text(const roofline::Term& term) {
  if (term.unit == "flop") return scaled(term.amount) + "FLOP";
  if (term.unit == "bytes") return scaled(term.amount) + "B";
  if (term.unit == "cpu_s") return seconds_text(term.amount) + " of CPU";
  return number_text(term.amount) + " launches";
}

std::string roof_text(const roofline::UsedRoof& roof) {
  // CPUs have no rate: their name says how many there are.
  if (roof.unit == "cpu_s/s") return roof.name;
  return fmt::format("{} ({})", rate_text(roof.value, roof.unit), to_string(roof.source));
}

std::string term_words(const std::string& name) {
  if (name == "h2d") return "copies to GPU";
  return name == "loader" ? "loading" : name;
}

std::vector<AbsentTerms> absent_terms(const roofline::Position& position) {
  std::vector<AbsentTerms> groups;
  for (const roofline::Term& term : position.terms) {
    if (term.why_absent.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(), [&term](const AbsentTerms& each) {
      return each.why == term.why_absent;
    });
    if (group == groups.end()) group = groups.insert(group, {{}, term.why_absent});
    group->names.push_back(term_words(term.name));
  }
  return groups;
}

std::string bound_sentence(const roofline::Position& position) {
  const std::string step = seconds_text(position.step_s);
  if (!position.bound) {
    return fmt::format("A step takes {}; what it takes at least is not known.", step);
  }
  const roofline::Term& bound = position.terms[*position.bound];
  return fmt::format("A step takes {}, at least {} of it for {}.", step,
                     seconds_text(bound.least_s), term_words(bound.name));
}

std::string utilization_sentence(const roofline::Position& position) {
  const roofline::Utilization& spec = position.of_specification;
  const roofline::Utilization& measured = position.of_measured;
  if (!spec.why_absent.empty() && spec.why_absent == measured.why_absent) {
    return "MFU: " + spec.why_absent + ".";
  }
  const std::string least = position.flops_at_least ? "at least " : "";
  const auto words = [&least](const roofline::Utilization& utilization, const char* limit) {
    if (!utilization.why_absent.empty()) return utilization.why_absent;
    return fmt::format("{}{} of {}", least, percent_text(utilization.ratio), limit);
  };
  const std::string here =
      words(measured, position.device.modelled ? "what the model's products reach"
                                               : "what products reach here");
  if (!spec.why_absent.empty()) return fmt::format("MFU {}; {}.", here, spec.why_absent);
  return fmt::format("MFU {}; {}.", words(spec, "the specification"), here);
}

std::string point_words(const roofline::Position& position) {
  if (!position.flop_per_s) return "the job's point: " + position.terms.front().why_absent;
  const std::string rate = rate_text(*position.flop_per_s, "flop/s");
  if (!position.flop_per_byte) return fmt::format("the job: {}", rate);
  return fmt::format("the job: {} at {} FLOP a byte", rate, number_text(*position.flop_per_byte));
}

}  // namespace unstarve::report
