#include "diagnose/line_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_words.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

/// Below this share of a cause's time a line is not where it is lost.
constexpr double kStandsOut = 0.3;
/// From this share on it is most of it.
constexpr double kMost = 0.6;
/// What a sample's second part has to take to be named in the sentence.
constexpr double kLineWorthNaming = 0.15;

bool is_written(const CodeShare& code) { return !code.place.empty() && !code.call.empty(); }

/// Of `sync`: without the wait the device would have work during this, and without this no gap.
std::string work_that_follows(const Finding& finding) {
  double share = 0;
  for (const CodeShare& code : finding.follows.parts) share += code.share;
  if (share < kMost) return "";
  return fmt::format("; for {} of the gap it then works at {}", percent_text(share),
                     code_words(finding.follows.parts.front()));
}

/// Without the code at it: in a sentence that names another line, that is too long.
std::string place_words(const CodeShare& code) {
  if (code.what.empty()) return code.place;
  return code.place.empty() ? code.what : fmt::format("{} ({})", code.what, code.place);
}

/// Of what is named in the same sentence.
std::string words_after(const CodeShare& first, const CodeShare& second) {
  const bool is_there = first.place == second.place;
  if (is_there && !second.what.empty()) return second.what;
  return is_written(first) ? place_words(second) : code_words(second);
}

}  // namespace

std::string code_words(const CodeShare& code) {
  if (is_written(code)) {
    const std::string description = code.what.empty() ? "" : ", " + code.what;
    return fmt::format("{} (`{}`{})", code.place, code.call, description);
  }
  return place_words(code);
}

std::string code_list(const CodeTime& time) {
  std::string list;
  for (const CodeShare& code : time.parts) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", percent_text(code.share),
                        code_words(code));
  }
  return list;
}

std::string line_words(const Finding& finding) {
  if (finding.code.parts.empty()) return "";
  const CodeShare& first = finding.code.parts.front();
  if (first.share < kStandsOut) return "";
  if (finding.cause != "input_wait" || finding.detail == "sampler") {
    if (first.place.empty()) return "";
    return fmt::format(", {} at {}{}", first.share < kMost ? "partly" : "mostly", code_words(first),
                       work_that_follows(finding));
  }
  std::string words =
      fmt::format("; {} of a sample is {}", percent_text(first.share), code_words(first));
  if (finding.code.parts.size() > 1 && finding.code.parts[1].share >= kLineWorthNaming) {
    const CodeShare& second = finding.code.parts[1];
    words += fmt::format(", {} {}", percent_text(second.share), words_after(first, second));
  }
  return words;
}

std::string line_of(const Finding& finding) {
  if (finding.cause == "input_wait" || finding.code.parts.empty()) return "";
  const CodeShare& first = finding.code.parts.front();
  // What is late there is the training's own next launch, which can be moved nowhere.
  const bool is_late = finding.cause == "launch" && first.trains;
  return is_late || first.share < kMost || first.place.empty() ? "" : code_words(first);
}

std::string without_wait_of(const Finding& finding) {
  return line_of(finding).empty() ? "" : finding.code.parts.front().without_wait;
}

std::string work_at_line_of(const Finding& finding) {
  if (line_of(finding).empty()) return "";
  const std::string& what = finding.code.parts.front().what;
  const auto is_it = [&what](const FetchWorkShare& known) {
    return makes_data(known.work) && words_of(known.work) == what;
  };
  return std::any_of(kFetchWorkShares.begin(), kFetchWorkShares.end(), is_it) ? what : "";
}

std::string own_line_words(const Diagnosis& diagnosis) {
  if (diagnosis.own_code.parts.empty()) return "";
  const CodeShare& first = diagnosis.own_code.parts.front();
  if (first.share < kStandsOut || first.place.empty()) return "";
  return fmt::format(", {} of it at {}", percent_text(first.share), code_words(first));
}

}  // namespace unstarve::diagnose
