#include "diagnose/lines/code_tally.h"

#include <algorithm>
#include <optional>

#include "diagnose/lines/known_calls.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

constexpr std::int64_t kFewestLooksOfCode = 10;
constexpr double kSmallestPart = 0.05;
constexpr std::size_t kMostParts = 4;
/// A look that is later than this has waited for Python's lock.
constexpr std::int64_t kWaitedNs = 1'000'000;
/// One that is this late has got it by force; Python's switch interval is 5 ms.
constexpr std::int64_t kForcedNs = 4'500'000;
/// Of the looks that waited, at least so many have to be forced to stand for all of them.
constexpr double kEnoughForced = 0.25;

CodeShare in_training(const trace::Stack& stack) {
  CodeShare code;
  code.place = stack.line;
  code.call = stack.call;
  code.without_wait = stack.without_wait;
  code.what = what_runs(stack);
  code.trains = code.what.empty() && trains(stack);
  if (code.place.empty() && code.what.empty()) code.what = stack.top;
  return code;
}

/// Work that has a name, where no class of the job's has one: in its collate function, and in a
/// tokenizer, which is called as transforms are.
std::optional<FetchWork> nameless_work(const trace::Stack& stack) {
  const bool has_class = !stack.transform.empty() && !stack.transform_place.empty();
  const bool is_line = !stack.in_collate && stack.transform.empty();
  return has_class || is_line ? std::nullopt : fetch_work(stack);
}

CodeShare in_fetch(const trace::Stack& stack) {
  CodeShare code;
  code.place = stack.line;
  if (stack.in_decode) {
    code.what = "decoding images";
  } else if (const auto work = nameless_work(stack)) {
    code.what = words_of(*work);
  } else if (stack.in_collate) {
    code.what = "collating";
  } else if (!stack.transform.empty()) {
    code.what = stack.transform;
    code.place = stack.transform_place;
  } else {
    return in_training(stack);
  }
  return code;
}

}  // namespace

void CodeTally::add(const trace::StackSample& sample, const trace::Stack& stack) {
  const auto weight = static_cast<double>(sample.period_ns);
  weight_ += weight;
  ++looks_;
  CodeShare code = by_ == By::kLine ? in_training(stack) : in_fetch(stack);
  // Of a sample, a class is one part wherever it is at work; a line is one part whatever it does.
  const bool by_what = code.place.empty() || (by_ == By::kSamplePart && code.call.empty());
  Part& part = parts_[by_what ? "what " + code.what : "line " + code.place];
  part.weight += weight;
  ++part.looks;
  if (sample.late_ns >= kForcedNs) {
    part.forced += weight;
    forced_ += weight;
  } else if (sample.late_ns >= kWaitedNs) {
    part.between += weight;
    between_ += weight;
  }
  part.details[{code.place, code.call, code.what, code.without_wait, code.trains}] += weight;
}

double CodeTally::share_of(const Part& part) const {
  if (forced_ <= 0 || forced_ < kEnoughForced * (forced_ + between_)) return part.weight / weight_;
  return (part.weight - part.between + between_ * part.forced / forced_) / weight_;
}

CodeTime CodeTally::result() const {
  CodeTime time;
  time.looks = looks_;
  if (looks_ < kFewestLooksOfCode) return time;
  for (const auto& [key, part] : parts_) {
    const double share = share_of(part);
    if (share < kSmallestPart) continue;
    const auto most =
        std::max_element(part.details.begin(), part.details.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto& [place, call, description, without_wait, is_training] = most->first;
    if (place.empty() && description.empty()) continue;
    time.parts.push_back({place, call, description, share, part.looks, is_training, without_wait});
  }
  std::stable_sort(time.parts.begin(), time.parts.end(),
                   [](const CodeShare& a, const CodeShare& b) { return a.share > b.share; });
  if (time.parts.size() > kMostParts) time.parts.resize(kMostParts);
  return time;
}

}  // namespace unstarve::diagnose
