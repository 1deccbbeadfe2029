#include <algorithm>
#include <set>
#include <vector>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

using trace::Interval;

bool lies_in(std::int64_t t_ns, const Interval& window) {
  return t_ns >= window.start_ns && t_ns < window.end_ns;
}

/// The loaders that have the purpose of the one that is spoken of.
std::vector<const job::LoaderUse*> meant_loaders(const job::Rank& rank) {
  std::vector<const job::LoaderUse*> meant;
  const job::LoaderUse* waited = rank.waited_loader();
  for (const job::LoaderUse& use : rank.loaders) {
    if (use.feeds_training == waited->feeds_training) meant.push_back(&use);
  }
  return meant;
}

/// The one of them that has this id; nullptr when none does.
const job::LoaderUse* use_of(const std::vector<const job::LoaderUse*>& loaders,
                             const Reading<std::int64_t>& id) {
  for (const job::LoaderUse* use : loaders) {
    if (use->id && id && *use->id == *id) return use;
  }
  return nullptr;
}

/// What starting worker processes anew took, within the window.
struct Starts {
  bool known = false;  // the recording says when iterators were asked for
  double count = 0;
  double ns = 0;         // from there to the first batch, less what a batch takes
  double waited_ns = 0;  // of that, inside `__iter__` and `__next__`
  double ends = 0;       // times that a loader's workers ended, behind its last batch
  double end_ns = 0;     // which its `__next__` took
};

void add_start(const trace::LoaderConfig& config, const job::LoaderUse& use,
               const trace::SlotPlan& thinning, double fetch_ns, Starts& starts) {
  const auto first = std::partition_point(
      use.waits.begin(), use.waits.end(),
      [&config](const trace::LoaderWait& wait) { return wait.when.start_ns < config.made_ns; });
  if (first == use.waits.end()) return;  // nobody asked it for a batch
  if (!thinning.is_whole(config.made_ns, first->when.start_ns)) return;  // nor is it known when
  const auto took_ns = static_cast<double>(first->when.end_ns - config.made_ns) - fetch_ns;
  ++starts.count;
  starts.ns += std::max(0.0, took_ns);
  const std::int64_t making_ns = config.ready_ns.value_or(config.made_ns) - config.made_ns;
  starts.waited_ns +=
      std::clamp(took_ns, 0.0, static_cast<double>(first->when.duration_ns() + making_ns));
}

// The end of an iterator waits for its workers to end, unless they live on.
void add_ends(const job::LoaderUse& use, const Interval& window, Starts& starts) {
  if (!use.config || use.config->native || use.config->num_workers == 0) return;
  if (use.config->persistent_workers.value_or(false)) return;
  for (const trace::LoaderWait& wait : use.waits) {
    if (!wait.ended || !lies_in(wait.when.start_ns, window)) continue;
    ++starts.ends;
    starts.end_ns += static_cast<double>(wait.when.duration_ns());
  }
}

Starts find_starts(const SignalSources& sources, double fetch_ns) {
  const Interval window = signal_window(sources);
  Starts starts;
  const std::vector<const job::LoaderUse*> meant = meant_loaders(sources.rank);
  std::set<std::int64_t> running;  // loaders whose workers live on
  for (const trace::LoaderConfig& config : sources.timeline().loaders) {  // by made_ns
    if (config.process != sources.rank.process || config.made_ns == 0) continue;
    const job::LoaderUse* use = use_of(meant, config.id);
    if (use == nullptr) continue;
    starts.known = true;
    if (config.native || config.num_workers == 0) continue;
    const bool lives_on = config.persistent_workers.value_or(false);
    if (lives_on && !running.insert(*config.id).second) continue;
    if (lies_in(config.made_ns, window)) {
      add_start(config, *use, sources.timeline().thinning, fetch_ns, starts);
    }
  }
  for (const job::LoaderUse* use : meant) add_ends(*use, window, starts);
  return starts;
}

double waited_in(const job::Rank& rank, const Interval& window) {
  double ns = 0;
  for (const Interval& wait : rank.waits) {
    if (lies_in(wait.start_ns, window)) ns += static_cast<double>(wait.duration_ns());
  }
  return ns;
}

void derive_busy(const SignalSources& sources, Signals& out) {
  if (!out.num_workers || *out.num_workers < 1 || !sources.rank.span) return;
  const Interval window = signal_window(sources);
  double fetching_ns = 0;
  for (const job::LoaderUse* use : meant_loaders(sources.rank)) {
    fetching_ns += static_cast<double>(use->thinned_fetches.ns);
    for (const trace::Fetch& fetch : use->fetches) {
      const std::int64_t ns = std::min(fetch.when.end_ns, window.end_ns) -
                              std::max(fetch.when.start_ns, window.start_ns);
      fetching_ns += static_cast<double>(std::max<std::int64_t>(ns, 0));
    }
  }
  const double theirs_ns = *out.num_workers * static_cast<double>(window.duration_ns());
  if (fetching_ns > 0 && theirs_ns > 0) {
    out.worker_busy_ratio = std::min(1.0, fetching_ns / theirs_ns);
  }
}

}  // namespace

void derive_worker_signals(const SignalSources& sources, Signals& out) {
  derive_busy(sources, out);
  if (const auto& cpus = sources.timeline().worker_cpus) {
    out.worker_cpus = static_cast<double>(*cpus);
  }
  const Starts starts = find_starts(sources, out.fetch_ns_median.value_or(0));
  if (!starts.known) return;
  out.loader_starts = starts.count;
  const double waited_ns = waited_in(sources.rank, signal_window(sources));
  if (waited_ns > 0) {
    out.startup_wait_ratio = std::min(1.0, (starts.waited_ns + starts.end_ns) / waited_ns);
  }
  if (starts.count > 0) out.loader_start_ns = starts.ns / starts.count;
  if (starts.ends > 0) out.loader_end_ns = starts.end_ns / starts.ends;
}

}  // namespace unstarve::diagnose
