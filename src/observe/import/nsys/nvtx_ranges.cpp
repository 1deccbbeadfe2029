#include "observe/import/nsys/nvtx_ranges.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "observe/import/event_category.h"

namespace unstarve::observe {

namespace {

enum StepRank : int { kProfilerStep, kUsersStep, kOptimizerStep };

// Without numbers, spaces and signs, in lower case: "Train step #12" is "trainstep".
constexpr std::array<std::string_view, 20> kStepWords = {
    "step",       "iteration",         "iter",          "batch",      "minibatch",
    "trainstep",  "trainingstep",      "trainiter",     "globalstep", "trainiteration",
    "trainbatch", "trainingiteration", "trainingbatch", "epochstep",  "epochiteration",
    "epochiter",  "epochbatch",        "steptotal",     "onestep",    "runtrainingbatch",
};
constexpr std::array<std::string_view, 17> kWaitWords = {
    "dataloading", "dataload",  "dataloader",     "loaddata",     "loadbatch",   "nextbatch",
    "getbatch",    "fetchdata", "fetchbatch",     "datafetch",    "batchload",   "batchloading",
    "nextdata",    "dataiter",  "dataloadernext", "waitforbatch", "waitfordata",
};

/// Longer names are no marks of steps.
constexpr std::size_t kLongestMark = 96;

std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view letters) {
  return std::find(words.begin(), words.end(), letters) != words.end();
}

bool is_wait(std::string_view text, std::string_view letters) {
  return is_loader_wait_name(text) || is_one_of(kWaitWords, letters) ||
         letters.ends_with("traindataloadernext");  // PyTorch Lightning's
}

int rank_of(std::string_view text, std::string_view letters) {
  if (is_step_name(text)) return kProfilerStep;
  if (text.starts_with("Optimizer.step#")) return kOptimizerStep;
  const bool lightning = letters.starts_with("plprofile") && letters.ends_with("runtrainingbatch");
  return lightning || is_one_of(kStepWords, letters) ? kUsersStep : -1;
}

/// A step lasts until the next begins, since loops mark what they do with a batch and seldom the
/// wait for it.
std::vector<trace::Interval> from_start_to_start(const std::vector<NvtxRanges::Range>& ranges) {
  std::vector<trace::Interval> steps;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool last = i + 1 == ranges.size();
    steps.push_back(
        {ranges[i].when.start_ns, last ? ranges[i].when.end_ns : ranges[i + 1].when.start_ns});
  }
  return steps;
}

std::vector<trace::Interval> from_end_to_end(const std::vector<NvtxRanges::Range>& ranges) {
  std::vector<trace::Interval> steps;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    steps.push_back({ranges[i - 1].when.end_ns, ranges[i].when.end_ns});
  }
  return steps;
}

/// By start; of those that overlap the outer one, of other threads than the first range's none.
void keep_one_after_another(std::vector<NvtxRanges::Range>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
    return a.when.start_ns != b.when.start_ns ? a.when.start_ns < b.when.start_ns
                                              : a.when.end_ns > b.when.end_ns;
  });
  std::vector<NvtxRanges::Range> kept;
  for (const NvtxRanges::Range& range : ranges) {
    const bool follows = kept.empty() || (range.thread == kept.back().thread &&
                                          range.when.start_ns >= kept.back().when.end_ns);
    if (follows) kept.push_back(range);
  }
  ranges = std::move(kept);
}

}  // namespace

void NvtxRanges::add(std::string_view text, const Range& range) {
  if (text.size() > kLongestMark) return;
  const std::string letters = letters_of(text);
  if (is_wait(text, letters)) {
    trace::LoaderWait& wait = waits_.emplace_back();
    wait.when = range.when;
    wait.process = range.process;
    wait.thread = range.thread;
    return;
  }
  const int rank = rank_of(text, letters);
  if (rank < 0) return;
  Family& family = families_[{range.process, rank, rank == kUsersStep ? letters : ""}];
  family.ranges.push_back(range);
  family.total_ns += range.when.duration_ns();
}

void NvtxRanges::finish(trace::Timeline& timeline) {
  struct Choice {
    int rank = 0;
    const Family* family = nullptr;
  };
  std::map<std::int64_t, Choice> chosen;  // by process
  for (auto& [key, family] : families_) {
    const auto& [process, rank, letters] = key;
    keep_one_after_another(family.ranges);
    if (family.ranges.size() < 2) continue;
    Choice& best = chosen[process];
    const bool better =
        best.family == nullptr || (rank == best.rank && family.total_ns > best.family->total_ns);
    if (better) best = {rank, &family};  // kinds come in order
  }
  for (const auto& [process, choice] : chosen) {
    const std::vector<Range>& ranges = choice.family->ranges;
    const auto steps =
        choice.rank == kOptimizerStep ? from_end_to_end(ranges) : from_start_to_start(ranges);
    for (const trace::Interval& when : steps) {
      trace::Step& step = timeline.steps.emplace_back();
      step.when = when;
      step.index = static_cast<std::int64_t>(timeline.steps.size()) - 1;
      step.process = process;
      step.thread = ranges.front().thread;
    }
  }
  timeline.loader_waits = std::move(waits_);
}

}  // namespace unstarve::observe
