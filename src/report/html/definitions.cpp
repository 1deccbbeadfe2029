#include <fmt/format.h>

#include "report/html/sections.h"

namespace unstarve::report {
namespace {

struct Definition {
  const char* word;
  const char* meaning;
};

constexpr Definition kGeneral[] = {
    {"Share", "fraction of wall time on one device; the shares of a partition sum to 100 %."},
    {"Busy", "at least one kernel or copy is executing on the device."},
    {"Step", "one optimizer step of the job."},
};

constexpr Definition kOfVerification[] = {
    {"AU",
     "accelerator utilisation as MLPerf Storage defines it: compute time / run time, the "
     "first step left out. 90 % passes."},
    {"Speed-up", "old step time / new step time, with an interval from resampling steps."},
    {"Held", "the measured speed-up agreed with the predicted interval."},
    {"CPU cores", "CPU seconds per second of the job's whole process tree."},
};

std::string list(const Definition& definition) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", definition.word, definition.meaning);
}

}  // namespace

std::string html_words(const Report& report) {
  std::string text = "<section class=\"words\">\n<h2>Words</h2>\n<dl>\n";
  for (const Definition& definition : kGeneral) text += list(definition);
  if (!report.verification.empty()) {
    for (const Definition& definition : kOfVerification) text += list(definition);
  }
  return text + "</dl>\n</section>\n";
}

}  // namespace unstarve::report
