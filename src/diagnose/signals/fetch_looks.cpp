#include "diagnose/signals/fetch_looks.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "diagnose/signals/derive.h"
#include "diagnose/signals/fetch_work.h"

namespace unstarve::diagnose {

namespace {

constexpr std::int64_t kFewestLooks = 20;

/// Whether it is at a call of time.sleep() that the job's code writes.
bool sleeps(const trace::Stack& stack) {
  const std::size_t at = stack.call.find("sleep(");
  if (at == std::string::npos || !stack.callee.empty()) return false;
  if (at == 0) return true;
  const char before = stack.call[at - 1];
  return before != '_' && std::isalnum(static_cast<unsigned char>(before)) == 0;
}

/// Of a loader's samples those that a worker makes and skips, in functions with these names: all
/// but one of as many as there are workers.
class Skipped {
 public:
  explicit Skipped(const job::LoaderUse& loader) {
    if (!loader.config || loader.config->native || loader.config->num_workers < 2) return;
    makers_ = loader.config->data.skipped_made_by;
    of_made_ = 1 - 1 / static_cast<double>(loader.config->num_workers);
  }
  bool makes(const trace::Stack& stack) const {
    return is_maker(stack.function) ||
           std::any_of(stack.callers.begin(), stack.callers.end(),
                       [this](const std::string& caller) { return is_maker(caller); });
  }
  /// Of what is made.
  double share() const { return of_made_; }

 private:
  bool is_maker(const std::string& function) const {
    return std::find(makers_.begin(), makers_.end(), function) != makers_.end();
  }

  std::vector<std::string> makers_;
  double of_made_ = 0;
};

}  // namespace

bool covers(const std::vector<trace::Interval>& intervals, std::int64_t instant) {
  const auto next = std::partition_point(
      intervals.begin(), intervals.end(),
      [instant](const trace::Interval& interval) { return interval.end_ns <= instant; });
  return next != intervals.end() && next->start_ns <= instant;
}

void visit_fetch_looks(const trace::Timeline& timeline, const job::LoaderUse& loader,
                       const FetchLook& visit) {
  std::map<job::ThreadKey, std::vector<trace::Interval>> fetches;  // of each thread disjoint
  for (const trace::Fetch& fetch : loader.fetches) {
    fetches[{fetch.process, fetch.thread}].push_back(fetch.when);
  }
  for (const trace::StackSample& sample : timeline.stack_samples) {
    const trace::Stack& stack = timeline.stacks[sample.stack];
    if (!stack.in_fetch) continue;
    const auto thread = fetches.find({sample.process, sample.thread});
    if (thread != fetches.end() && covers(thread->second, sample.t_ns)) visit(sample, stack);
  }
}

void derive_fetch_looks(const trace::Timeline& timeline, const job::LoaderUse& loader,
                        Signals& out) {
  std::int64_t looks = 0;
  std::int64_t asleep = 0;
  std::int64_t collating = 0;
  std::int64_t works_there = 0;
  std::int64_t makes = 0;
  const Skipped skipped(loader);
  std::map<FetchWork, std::int64_t> at_work;
  std::map<OpenedImageWork, std::int64_t> at_image;
  visit_fetch_looks(timeline, loader, [&](const trace::StackSample&, const trace::Stack& stack) {
    ++looks;
    if (sleeps(stack)) ++asleep;
    if (skipped.makes(stack)) ++makes;
    const auto work = fetch_work(stack);
    if (work) ++at_work[*work];
    ++at_image[opened_image_work(stack)];
    if (stack.in_collate) ++collating;
    if (stack.in_collate && work) ++works_there;
  });
  if (looks < kFewestLooks) return;
  const auto share = [looks](std::int64_t of_them) {
    return static_cast<double>(of_them) / static_cast<double>(looks);
  };
  out.fetch_sleep_call_ratio = share(asleep);
  out.fetch_collating_ratio = share(collating);
  if (makes > 0) out.fetch_skipped_ratio = share(makes) * skipped.share();
  out.collating_work_ratio = share(works_there);
  // Only a JPEG that is given to a composition is anybody's but Pillow's.
  const std::int64_t decoding = at_image[OpenedImageWork::kDecoding];
  const std::int64_t loading = at_image[OpenedImageWork::kLoading];
  const std::int64_t transforming = at_image[OpenedImageWork::kTransforming];
  const bool goes_there = decoding + loading > 0 && transforming > 0;
  out.fetch_opened_images_ratio = share(loading + (goes_there ? decoding + transforming : 0));
  for (const auto& [work, signal] : kFetchWorkShares) out.*signal = share(at_work[work]);
}

}  // namespace unstarve::diagnose
