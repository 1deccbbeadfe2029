#include "job/rank/loader_use.h"

#include <algorithm>
#include <map>

#include "job/rank/step_phase.h"

namespace unstarve::job {
namespace {

bool same(const Reading<std::int64_t>& a, const Reading<std::int64_t>& b) {
  return a.has_value() == b.has_value() && (!a || *a == *b);
}

LoaderUse& use_of(std::vector<LoaderUse>& loaders, const Reading<std::int64_t>& id) {
  const auto found = std::find_if(loaders.begin(), loaders.end(),
                                  [&id](const LoaderUse& use) { return same(use.id, id); });
  if (found != loaders.end()) return *found;
  loaders.emplace_back().id = id;
  return loaders.back();
}

void add_waits(const std::vector<trace::LoaderWait>& waits, const std::vector<trace::Step>& steps,
               std::vector<LoaderUse>& loaders) {
  for (const trace::LoaderWait& wait : waits) {
    LoaderUse& use = use_of(loaders, wait.loader_id);
    const std::ptrdiff_t at = step_at(steps, wait.when.start_ns);
    const std::ptrdiff_t last =
        use.waits.empty() ? -1 : step_at(steps, use.waits.back().when.start_ns);
    if (at >= 0 && at != last) ++use.steps_fed;
    use.waited_ns += wait.when.duration_ns();
    use.waits.push_back(wait);
  }
}

void add_configs(const trace::Timeline& timeline, std::int64_t process,
                 std::vector<LoaderUse>& loaders) {
  for (const trace::LoaderConfig& config : timeline.loaders) {
    if (config.process != 0 && process != 0 && config.process != process) continue;
    for (LoaderUse& use : loaders) {
      if (same(use.id, config.id)) use.config = config;
    }
  }
}

// A loader that is waited for in more than half as many steps as the one with most of them feeds
// the training as well: labelled and unlabelled batches, two domains. An evaluation falls into few.
void tell_purposes(std::vector<LoaderUse>& loaders) {
  std::int64_t most = 0;
  for (const LoaderUse& use : loaders) most = std::max(most, use.steps_fed);
  for (LoaderUse& use : loaders) use.feeds_training = most == 0 || 2 * use.steps_fed > most;
}

/// Whether another process of the job trains with what was fetched: a rank beside this one.
bool is_of_another(const trace::Timeline& timeline, const trace::Fetch& fetch,
                   std::int64_t process) {
  const std::int64_t trainer = fetch.trainer;
  return trainer != 0 && process != 0 && trainer != process &&
         std::any_of(timeline.steps.begin(), timeline.steps.end(),
                     [trainer](const trace::Step& step) { return step.process == trainer; });
}

void add_fetches(const trace::Timeline& timeline, std::int64_t process,
                 std::vector<LoaderUse>& loaders) {
  std::map<std::int64_t, bool> of_another;  // by who trains with them
  for (const trace::Fetch& fetch : timeline.fetches) {
    const auto [known, is_new] = of_another.try_emplace(fetch.trainer, false);
    if (is_new) known->second = is_of_another(timeline, fetch, process);
    if (known->second) continue;
    const auto named = std::find_if(loaders.begin(), loaders.end(), [&fetch](const LoaderUse& use) {
      return same(use.id, fetch.loader_id);
    });
    // A fetch that says of no loader it is was recorded where only one was thought of.
    if (named != loaders.end()) named->fetches.push_back(fetch);
    if (named == loaders.end() && !fetch.loader_id) loaders.front().fetches.push_back(fetch);
  }
}

}  // namespace

std::vector<LoaderUse> tell_loaders_apart(const trace::Timeline& timeline, std::int64_t process,
                                          const std::vector<trace::LoaderWait>& waits,
                                          const std::vector<trace::Step>& steps) {
  std::vector<LoaderUse> loaders;
  add_waits(waits, steps, loaders);
  if (loaders.empty() && !timeline.loaders.empty()) {
    loaders.emplace_back().id = timeline.loaders.front().id;
  } else if (loaders.empty() && !timeline.fetches.empty()) {
    loaders.emplace_back().id = timeline.fetches.front().loader_id;
  }
  if (loaders.empty()) return loaders;
  add_configs(timeline, process, loaders);
  tell_purposes(loaders);
  std::stable_sort(loaders.begin(), loaders.end(), [](const LoaderUse& a, const LoaderUse& b) {
    if (a.feeds_training != b.feeds_training) return a.feeds_training;
    return a.waited_ns > b.waited_ns;
  });
  add_fetches(timeline, process, loaders);
  return loaders;
}

}  // namespace unstarve::job
