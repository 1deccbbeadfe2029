#include "report/roofline/position_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_words.h"
#include "base/units.h"
#include "report/roofline/position_words.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

constexpr int kNameColumns = 14;
constexpr int kTimeColumns = 10;
constexpr int kShareColumns = 8;

std::string term_line(const roofline::Term& term, const TextOptions& options) {
  const std::string line = "  " + pad_right(term_words(term.name), kNameColumns) +
                           pad_left(seconds_text(term.least_s), kTimeColumns) +
                           pad_left(percent_cell(term.share), kShareColumns) + "  " +
                           fmt::format("{} under {}", amount_text(term), roof_text(term.roof));
  return clip(printable(line, options), options.width, options) + "\n";
}

}  // namespace

std::string position_text(const roofline::Position& position, const TextOptions& options) {
  const auto line = [&options](std::string_view first, const std::string& text) {
    return hanging(first, printable(text, options), options);
  };
  std::string text =
      paint(clip("Under the roofs: " + bound_sentence(position), options.width, options),
            Tone::kStrong, options) +
      "\n";
  for (const roofline::Term& term : position.terms) {
    if (term.why_absent.empty()) text += term_line(term, options);
  }
  for (const AbsentTerms& group : absent_terms(position)) {
    text += line("  ", fmt::format("{}: {}", fmt::join(group.names, ", "), group.why));
  }
  const std::string utilization = utilization_sentence(position);
  // Where nothing was counted the terms say so already.
  if (position.flop_per_s) text += line("  ", utilization);
  for (const std::string& note : position.notes) text += line("  ", note);
  return text;
}

}  // namespace unstarve::report
