#include "report/why.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/number_words.h"
#include "report/headline.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

constexpr std::size_t kMostParts = 3;
constexpr double kLeastShare = 0.02;  // of the whole: below it a bar cannot be seen

void keep_largest(std::vector<WhyPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const WhyPart& a, const WhyPart& b) { return a.share > b.share; });
  const auto small = std::find_if(parts.begin(), parts.end(),
                                  [](const WhyPart& part) { return part.share < kLeastShare; });
  parts.erase(small, parts.end());
  if (parts.size() > kMostParts) parts.resize(kMostParts);
}

/// What looks at the job's code found.
Why by_lines(const diagnose::Finding& lead) {
  Why why;
  for (const diagnose::CodeShare& code : lead.code.parts) {
    WhyPart part{code.what, code.place, code.share, lead.cause, code.what.empty()};
    if (part.is_code) part.what = code.call;
    if (part.what.empty()) std::swap(part.what, part.place);
    why.parts.push_back(std::move(part));
  }
  const bool of_fetches = lead.cause == "input_wait" && lead.detail != "sampler";
  why.of = of_fetches ? "of making a sample"
                      : "of the lost time, " + percent_text(lead.share) + " of all";
  return why;
}

/// What the stages of a fetch take.
Why by_stages(const diagnose::Diagnosis& diagnosis) {
  struct Stage {
    std::string_view what;
    Reading<double> diagnose::Signals::*share;
  };
  constexpr std::array<Stage, 5> kStages = {{
      {"decoding images", &diagnose::Signals::decode_ratio},
      {"Python of the data set", &diagnose::Signals::python_ratio},
      {"collating", &diagnose::Signals::collate_ratio},
      {"reading files", &diagnose::Signals::read_ratio},
      {"resizing and transforming", &diagnose::Signals::transform_ratio},
  }};
  Why why{"of making a batch", {}};
  for (const Stage& stage : kStages) {
    const Reading<double>& share = diagnosis.signals.*stage.share;
    if (share) why.parts.push_back({std::string(stage.what), "", *share, "input_wait"});
  }
  return why;
}

/// What the time of the whole is given to.
Why by_causes(const diagnose::Diagnosis& diagnosis) {
  Why why{"of the training's time", {}};
  if (diagnosis.partition) {
    for (const ShareWord& word : share_words()) {
      why.parts.push_back({std::string(word.meaning), "", (*diagnosis.partition).*word.share,
                           std::string(word.name)});
    }
  } else if (diagnosis.thread_time) {
    for (const RoundedShare& share : rounded_shares(*diagnosis.thread_time)) {
      const bool own = share.word->name == "own_work";
      why.parts.push_back({own ? "the training itself" : std::string(share.word->meaning), "",
                           share.per_mille / 1000.0, std::string(share.word->name)});
    }
  }
  return why;
}

}  // namespace

Why why_of(const Report& report) {
  const diagnose::Finding* const lead = leading_finding(report);
  Why why;
  if (lead != nullptr) why = by_lines(*lead);
  keep_largest(why.parts);
  if (why.parts.empty() && lead != nullptr && lead->cause == "input_wait") {
    why = by_stages(report.diagnosis);
    keep_largest(why.parts);
  }
  if (why.parts.empty()) {
    why = by_causes(report.diagnosis);
    keep_largest(why.parts);
  }
  if (why.parts.empty()) why.of.clear();
  return why;
}

}  // namespace unstarve::report
