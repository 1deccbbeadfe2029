#include "job/rank/rank.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "job/rank/recorded.h"

namespace unstarve::job {
namespace {

template <class T>
bool any_of_process(const std::vector<T>& items, std::int64_t process) {
  return std::any_of(items.begin(), items.end(),
                     [process](const T& item) { return item.process == process; });
}

/// The process with the most steps; the first of several.
std::int64_t process_with_most(const std::vector<trace::Step>& steps) {
  std::map<std::int64_t, std::size_t> counts;
  for (const trace::Step& step : steps) ++counts[step.process];
  std::int64_t best = 0;
  std::size_t most = 0;
  for (const trace::Step& step : steps) {
    if (counts[step.process] > most) {
      most = counts[step.process];
      best = step.process;
    }
  }
  return best;
}

void add_steps(const trace::Timeline& timeline, const std::vector<trace::Step>& repeated,
               Rank& rank) {
  rank.steps = repeated;
  const bool own = any_of_process(timeline.steps, rank.process);
  const std::int64_t process = own ? rank.process : process_with_most(timeline.steps);
  for (const trace::Step& step : timeline.steps) {
    if (repeated.empty() && step.process == process) rank.steps.push_back(step);
  }
  for (const trace::Step& step : rank.steps) rank.training.push_back({step.process, step.thread});
  std::sort(rank.training.begin(), rank.training.end());
  rank.training.erase(std::unique(rank.training.begin(), rank.training.end()), rank.training.end());
}

// A wait of another thread of the job (a prefetcher that calls `next` itself) does not hold the
// training thread up, so it counts only where nobody says which thread trains.
std::vector<trace::LoaderWait> waits_of(const trace::Timeline& timeline, const Rank& rank) {
  const bool own = any_of_process(timeline.loader_waits, rank.process);
  const bool known = !rank.training.empty() && rank.training.back().thread != 0;
  std::vector<trace::LoaderWait> waits;
  for (const trace::LoaderWait& wait : timeline.loader_waits) {
    if (wait.when.duration_ns() <= 0) continue;
    if (own && wait.process != rank.process) continue;
    const ThreadKey thread = {wait.process, wait.thread};
    if (known && !std::binary_search(rank.training.begin(), rank.training.end(), thread)) continue;
    waits.push_back(wait);
  }
  return waits;
}

// An iterator's workers are started, and forked of a process that may be large, before it is asked
// for a batch.
void add_starts(const trace::Timeline& timeline, const Rank& rank,
                std::vector<trace::LoaderWait>& waits) {
  for (const trace::LoaderConfig& config : timeline.loaders) {
    const ThreadKey thread = {config.process, config.thread};
    if (config.made_ns == 0 || !config.ready_ns || *config.ready_ns <= config.made_ns) continue;
    if (!std::binary_search(rank.training.begin(), rank.training.end(), thread)) continue;
    trace::LoaderWait start;
    start.when = {config.made_ns, *config.ready_ns};
    waits.push_back(start);
  }
  std::stable_sort(waits.begin(), waits.end(), [](const auto& wait, const auto& other) {
    return wait.when.start_ns < other.when.start_ns;
  });
}

template <class T>
std::vector<trace::Interval> merged(const std::vector<T>& items) {
  std::vector<trace::Interval> intervals;
  for (const T& next : items) {  // by start
    if (!intervals.empty() && next.when.start_ns <= intervals.back().end_ns) {
      intervals.back().end_ns = std::max(intervals.back().end_ns, next.when.end_ns);
    } else {
      intervals.push_back(next.when);
    }
  }
  return intervals;
}

// A collection holds the lock of the interpreter whatever thread it is on; a file that is saved
// counts where the training thread saves it.
void add_host_work(const trace::Timeline& timeline, Rank& rank) {
  for (const trace::HostWork& work : timeline.host_work) {
    if (rank.process != 0 && work.process != rank.process) continue;
    if (work.when.duration_ns() <= 0) continue;
    const ThreadKey thread = {work.process, work.thread};
    const bool collects = work.kind == trace::HostWorkKind::kCollection;
    if (collects || std::binary_search(rank.training.begin(), rank.training.end(), thread)) {
      rank.host_work.push_back(work);
    }
  }
  rank.occupied = merged(rank.host_work);
}

Reading<trace::Interval> span_behind(const std::vector<trace::Step>& steps, std::size_t warm_up) {
  if (steps.size() <= warm_up) return WhyAbsent::kNotObserved;
  trace::Interval span = steps[warm_up].when;
  for (std::size_t i = warm_up; i < steps.size(); ++i) {
    span.end_ns = std::max(span.end_ns, steps[i].when.end_ns);
  }
  return span;
}

void add_number(const trace::Timeline& timeline, Rank& rank) {
  for (const trace::RankNumber& number : timeline.rank_numbers) {
    if (number.process != 0 && number.process != rank.process) continue;
    rank.number = number.rank;
    rank.of = number.ranks;
  }
}

LoaderUse* use_named(std::vector<LoaderUse>& loaders, std::string_view id) {
  const auto named = std::find_if(loaders.begin(), loaders.end(), [id](const LoaderUse& use) {
    return use.id ? std::to_string(*use.id) == id : id.empty();
  });
  return named == loaders.end() ? nullptr : &*named;
}

/// Whether a step trains in which these loaders were waited for: "0,1". One that is not among the
/// kept waits is an evaluation's.
bool trains(std::vector<LoaderUse>& loaders, std::string_view ids) {
  while (!ids.empty()) {
    const std::string_view id = ids.substr(0, ids.find(','));
    const LoaderUse* use = use_named(loaders, id);
    if (use == nullptr || !use->feeds_training) return false;
    ids.remove_prefix(std::min(ids.size(), id.size() + 1));
  }
  return true;
}

void add_thinned(const trace::Timeline& timeline, Rank& rank) {
  const bool of_batches =
      !rank.steps.empty() && rank.steps.front().source == trace::StepSource::kLoaderBatch;
  for (const auto& [key, totals] : timeline.thinned) {
    const bool own = rank.process == 0 || key.process == rank.process;
    const bool is_step = key.what == (of_batches ? "batch" : "step");
    LoaderUse* use = use_named(rank.loaders, key.subject);
    if (key.what == "fetch" && use != nullptr) use->thinned_fetches += totals;
    if (key.what == "wait" && own && use != nullptr) use->thinned_waits += totals;
    // Waits outside of steps come as steps that are none.
    if (own && (is_step || (key.what == "step" && totals.rows == 0))) {
      rank.thinned += totals;
      if (trains(rank.loaders, key.subject)) rank.thinned_training += totals;
    }
  }
}

}  // namespace

const LoaderUse* Rank::training_loader() const {
  return loaders.empty() ? nullptr : &loaders.front();
}

std::int64_t Rank::waited_ns(const LoaderUse& use) const {
  std::int64_t waited = use.thinned_waits.ns;
  for (const trace::LoaderWait& wait : use.waits) {
    if (!span || wait.when.start_ns >= (*span).start_ns) waited += wait.when.duration_ns();
  }
  return waited;
}

const LoaderUse* Rank::waited_loader() const {
  constexpr std::int64_t kMuchMore = 2;
  const LoaderUse* longest = training_loader();
  if (longest == nullptr) return nullptr;
  std::int64_t most_ns = kMuchMore * waited_ns(*longest);
  for (const LoaderUse& use : loaders) {
    if (use.feeds_training == loaders.front().feeds_training || waited_ns(use) <= most_ns) continue;
    longest = &use;
    most_ns = waited_ns(use);
  }
  return longest;
}

std::vector<trace::Step> Rank::training_steps() const {
  std::vector<trace::Step> found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (phases[i] == StepPhase::kTraining) found.push_back(steps[i]);
  }
  return found;
}

Rank gather_rank(const trace::Timeline& timeline, ThreadKey launcher,
                 const std::vector<trace::Step>& repeated) {
  Rank rank;
  rank.process = launcher.process != 0 ? launcher.process : process_with_most(timeline.steps);
  add_number(timeline, rank);
  add_steps(timeline, repeated, rank);
  std::vector<trace::LoaderWait> waits = waits_of(timeline, rank);
  rank.loaders = tell_loaders_apart(timeline, rank.process, waits, rank.steps);
  add_starts(timeline, rank, waits);
  rank.waits = merged(waits);
  const std::size_t warm_up = warm_up_steps(timeline.input, rank.steps.size());
  rank.phases = tell_phases(rank.steps, rank.loaders, warm_up);
  add_thinned(timeline, rank);
  rank.windows = windows_of(timeline, rank.process);
  rank.interruptions = interruptions_of(timeline, rank.process);
  rank.span = span_behind(rank.steps, warm_up);
  if (rank.training.empty()) rank.training.push_back(launcher);
  add_host_work(timeline, rank);
  return rank;
}

}  // namespace unstarve::job
