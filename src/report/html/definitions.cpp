#include <fmt/format.h>

#include <array>
#include <cctype>

#include "report/html/escape.h"
#include "report/html/sections.h"
#include "report/html/terms.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

struct Definition {
  std::string_view word;  // as it stands on the page, whatever the case
  std::string_view meaning;
};

constexpr std::array<Definition, 12> kDefinitions = {{
    {"share", "fraction of wall time on one device; the shares of a partition sum to 100 %."},
    {"GPU busy", "at least one kernel or copy is executing on the device."},
    {"step", "one optimizer step of the job."},
    {"median step", "half of the optimizer steps take longer, half are shorter."},
    {"predicted",
     "computed from what was measured of this run, with the range that it should lie in."},
    {"measured", "by a run of the job with the change in it."},
    {"AU",
     "accelerator utilisation as MLPerf Storage defines it: compute time / run time, the "
     "first step left out. 90 % passes."},
    {"speed-up", "old step time / new step time, with an interval from resampling steps."},
    {"held", "the measured speed-up agreed with the predicted interval."},
    {"CPU cores", "CPU seconds per second of the job's whole process tree."},
    {"clear", "nothing that was observed speaks for another cause."},
    {"ambiguous", "what was observed would fit another cause as well."},
}};

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// "gpu-busy", for an id.
std::string key_of(std::string_view word) {
  std::string key;
  for (const char c : word) {
    key += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
               : '-';
  }
  return key;
}

/// In the list of all words, and for the moment in which somebody asks.
std::string entry(std::string_view word, std::string_view meaning) {
  return fmt::format(
      "<div><dt>{0}</dt><dd><span id=\"word-{2}\">{1}</span>"
      "<span popover id=\"term-{2}\" class=\"explained\"><b>{0}</b>: {1}</span></dd></div>\n",
      word, meaning, key_of(word));
}

}  // namespace

std::string explained(std::string_view shown) {
  std::string_view word;
  for (const Definition& definition : kDefinitions) {
    if (same_word(definition.word, shown)) word = definition.word;
  }
  for (const ShareWord& share : share_words()) {
    if (share.name == shown) word = share.name;
  }
  if (word.empty()) return escape(shown);
  return fmt::format(
      "<button type=\"button\" class=\"term\" popovertarget=\"term-{0}\" "
      "aria-describedby=\"word-{0}\">{1}</button>",
      key_of(word), escape(shown));
}

std::string explained_title(const diagnose::Finding& finding) {
  const std::string cause = explained(finding.cause);
  return finding.detail.empty() ? cause : fmt::format("{} / {}", cause, escape(finding.detail));
}

std::string html_words(const Report&) {
  std::string text = "<section class=\"words\">\n<h2>Words</h2>\n<dl>\n";
  for (const Definition& definition : kDefinitions) {
    text += entry(definition.word, definition.meaning);
  }
  for (const ShareWord& share : share_words()) text += entry(share.name, share.meaning);
  return text + "</dl>\n</section>\n";
}

}  // namespace unstarve::report
