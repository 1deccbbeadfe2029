#include <algorithm>

#include "diagnose/signals/derive.h"

namespace unstarve::diagnose {

namespace {

bool begins_in(const trace::Interval& when, const trace::Interval& window) {
  return when.start_ns >= window.start_ns && when.start_ns < window.end_ns;
}

// Time of `waits` (disjoint, by start) inside `step`.
std::int64_t waited_in(const std::vector<trace::Interval>& waits, const trace::Interval& step) {
  auto wait = std::partition_point(waits.begin(), waits.end(), [&step](const trace::Interval& w) {
    return w.end_ns <= step.start_ns;
  });
  std::int64_t waited = 0;
  for (; wait != waits.end() && wait->start_ns < step.end_ns; ++wait) {
    waited += std::min(wait->end_ns, step.end_ns) - std::max(wait->start_ns, step.start_ns);
  }
  return waited;
}

// Of the training threads, in calls that wait for the device and outside of the loader.
std::int64_t blocked_in(const SignalSources& sources, const trace::Interval& step) {
  std::int64_t blocked = 0;
  for (const job::ThreadKey& thread : sources.rank.training) {
    for (const trace::Interval& call : sources.job.host().blocking_calls(thread)) {
      const trace::Interval part = {std::max(call.start_ns, step.start_ns),
                                    std::min(call.end_ns, step.end_ns)};
      if (part.duration_ns() <= 0) continue;
      blocked += part.duration_ns() - waited_in(sources.rank.waits, part);
    }
  }
  return blocked;
}

// A recording without a call says nothing of how long they take. Most calls are seen only while
// the device is recorded: what lies between its windows says nothing either.
void derive_blocking(const SignalSources& sources, double step_ns, Signals& out) {
  if (sources.timeline().host_calls.empty() || step_ns <= 0) return;
  const trace::Interval window = signal_window(sources);
  std::vector<trace::Interval> steps;
  for (const trace::Step& step : sources.rank.steps) steps.push_back(step.when);
  std::int64_t blocked_ns = 0;
  std::int64_t of_ns = 0;
  for (const job::RecordedPart& part : job::recorded_parts(sources.rank, window)) {
    blocked_ns += blocked_in(sources, part.when);
    of_ns += job::covered_ns(steps, part.when);
  }
  if (of_ns <= 0) return;
  out.blocked_ratio = std::min(1.0, static_cast<double>(blocked_ns) / static_cast<double>(of_ns));
}

void derive_training_device(const SignalSources& sources, Signals& out) {
  const bool aside = sources.set_aside && sources.set_aside->reason != job::AsideReason::kTooLittle;
  if (aside) out.gpu_takes_no_part = 1;
  const trace::TrainingDevice* const device = sources.timeline().device_of(sources.rank.process);
  if (device != nullptr) out.trains_on_host = device->kind == "cpu" ? 1.0 : 0.0;
}

/// Of all steps and of all of the run: an error of the kind ends it.
void derive_full_memory(const SignalSources& sources, Signals& out) {
  const auto found_full = [&sources](const trace::HostWork& work) {
    return sources.owns(work.process) && (work.kind == trace::HostWorkKind::kAllocationRetry ||
                                          work.kind == trace::HostWorkKind::kOutOfMemory);
  };
  const std::vector<trace::HostWork>& works = sources.timeline().host_work;
  const auto steps = static_cast<double>(sources.rank.steps.size());
  const auto count = static_cast<double>(std::count_if(works.begin(), works.end(), found_full));
  if (steps > 0) out.memory_full_per_step = count / steps;
}

void derive_queue(const job::LoaderUse& loader, const trace::Interval& window, Signals& out) {
  double known = 0;
  double empty = 0;
  double waited_ns = 0;
  double waited_ready_ns = 0;
  for (const trace::LoaderWait& wait : loader.waits) {
    if (!wait.ready_batches || !begins_in(wait.when, window)) continue;
    const double duration = static_cast<double>(wait.when.duration_ns());
    ++known;
    waited_ns += duration;
    if (*wait.ready_batches > 0) waited_ready_ns += duration;
    if (*wait.ready_batches == 0) ++empty;
  }
  if (known > 0) out.empty_queue_ratio = empty / known;
  if (waited_ns > 0) out.ready_wait_ratio = waited_ready_ns / waited_ns;
}

void derive_config(const trace::LoaderConfig& loader, Signals& out) {
  if (loader.native) {
    out.num_workers = WhyAbsent::kNotSupported;  // threads load, see derive_stage_signals()
    out.loader_threads = static_cast<double>(loader.num_workers);
  } else {
    out.num_workers = static_cast<double>(loader.num_workers);
  }
  if (loader.prefetch_factor) out.prefetch_factor = static_cast<double>(*loader.prefetch_factor);
  if (loader.batch_size) out.batch_size = static_cast<double>(*loader.batch_size);
  if (loader.pin_memory) out.pin_memory = *loader.pin_memory ? 1.0 : 0.0;
}

/// Each look at any thread's Python.
template <class Visit>
void visit_looks(const trace::Timeline& timeline, const trace::Interval& window, Visit visit) {
  for (const trace::StackSample& sample : timeline.stack_samples) {
    if (sample.t_ns < window.start_ns || sample.t_ns >= window.end_ns) continue;
    visit(sample, timeline.stacks[sample.stack]);
  }
}

/// How much of its waiting the training thread spends in the job's own sampler, in looks at it.
Reading<double> order_ratio(const SignalSources& sources, const trace::Interval& window) {
  constexpr int kFewestLooks = 10;
  const std::vector<trace::Interval>& waits = sources.rank.waits;
  const std::vector<job::ThreadKey>& threads = sources.rank.training;
  int looks = 0;
  double waited_ns = 0;
  double ordered_ns = 0;
  visit_looks(sources.timeline(), window, [&](const auto& sample, const trace::Stack& stack) {
    const auto wait = std::partition_point(
        waits.begin(), waits.end(),
        [&sample](const trace::Interval& candidate) { return candidate.end_ns <= sample.t_ns; });
    if (wait == waits.end() || wait->start_ns > sample.t_ns) return;
    const job::ThreadKey thread = {sample.process, sample.thread};
    if (!std::binary_search(threads.begin(), threads.end(), thread)) return;
    ++looks;
    waited_ns += static_cast<double>(sample.period_ns);
    if (stack.in_order) ordered_ns += static_cast<double>(sample.period_ns);
  });
  if (looks < kFewestLooks || waited_ns <= 0) return WhyAbsent::kNotObserved;
  return ordered_ns / waited_ns;
}

/// Of the looks at the training thread: at a line of the job that calls what holds `words`.
Reading<double> calls_ratio(const SignalSources& sources, const trace::Interval& window,
                            const char* words) {
  constexpr int kFewestLooks = 20;
  int looks = 0;
  int calling = 0;
  visit_looks(sources.timeline(), window, [&](const auto& sample, const trace::Stack& stack) {
    if (!sources.owns(sample.process) || stack.in_fetch) return;
    ++looks;
    if (stack.call.find(words) != std::string::npos) ++calling;
  });
  if (looks < kFewestLooks) return WhyAbsent::kNotObserved;
  return static_cast<double>(calling) / looks;
}

/// In a training a model without its cache is as it should be.
Reading<double> uncached_ratio(const SignalSources& sources, const trace::Interval& window) {
  using trace::StepSource;
  const std::vector<trace::Step>& steps = sources.rank.steps;
  if (steps.empty()) return WhyAbsent::kNotObserved;
  const StepSource source = steps.front().source;
  if (source != StepSource::kRepetition && source != StepSource::kModelCall) {
    return WhyAbsent::kNotSupported;
  }
  return calls_ratio(sources, window, "use_cache=False");
}

/// `own_ns`: of each step, in their order.
Reading<double> growth(const std::vector<double>& own_ns) {
  constexpr std::size_t kQuarters = 4;
  constexpr std::size_t kFewestSteps = 40;
  if (own_ns.size() < kFewestSteps) return WhyAbsent::kNotObserved;
  std::vector<double> medians;
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    const auto at = [&own_ns](std::size_t i) {
      return own_ns.begin() + static_cast<std::ptrdiff_t>(i * own_ns.size() / kQuarters);
    };
    medians.push_back(*median_of({at(quarter), at(quarter + 1)}));
  }
  const bool grows = std::is_sorted(medians.begin(), medians.end()) && medians.front() > 0;
  return grows ? medians.back() / medians.front() : 1;
}

}  // namespace

void derive_step_signals(const SignalSources& sources, Signals& out) {
  const trace::Interval window = signal_window(sources);
  const job::Rank& rank = sources.rank;
  std::vector<double> steps;
  std::vector<double> waits;
  std::vector<double> own;
  double step_ns = 0;
  double wait_ns = 0;
  for (const trace::Step& step : rank.steps) {
    if (!begins_in(step.when, window)) continue;
    steps.push_back(static_cast<double>(step.when.duration_ns()));
    waits.push_back(static_cast<double>(waited_in(rank.waits, step.when)));
    own.push_back(steps.back() - waits.back());
    step_ns += steps.back();
    wait_ns += waits.back();
  }
  const trace::RowTotals& thinned = rank.thinned;
  const double count = static_cast<double>(steps.size()) + static_cast<double>(thinned.rows);
  out.step_count = count;
  derive_full_memory(sources, out);
  out.step_ns_median = median_of(steps);
  out.step_growth_ratio = growth(own);
  out.generating_ratio = calls_ratio(sources, window, ".generate(");
  out.uncached_ratio = uncached_ratio(sources, window);
  derive_training_device(sources, out);
  derive_blocking(sources, step_ns, out);
  if (sources.timeline().loader_waits.empty()) return;
  step_ns += static_cast<double>(thinned.ns);
  wait_ns += static_cast<double>(thinned.wait_ns);
  out.wait_ns_median = median_of(waits);
  out.order_ratio = order_ratio(sources, window);
  if (!waits.empty()) out.wait_ns_mean = wait_ns / count;
  if (step_ns > 0) {
    out.wait_ratio = wait_ns / step_ns;
  } else if (sources.worst != nullptr) {  // without steps: of the partition's span
    out.wait_ratio = static_cast<double>(waited_in(rank.waits, window)) /
                     static_cast<double>(window.duration_ns());
  }
  if (rank.waited_loader() != nullptr) derive_queue(*rank.waited_loader(), window, out);
}

void derive_fetch_signals(const SignalSources& sources, Signals& out) {
  // The model computes what the training's loader gives, whichever is waited for.
  const std::vector<job::LoaderUse>& loaders = sources.rank.loaders;
  if (!loaders.empty() && loaders.front().config) {
    out.padded_ratio = loaders.front().config->data.padded;
  }
  const job::LoaderUse* use = sources.rank.waited_loader();
  if (use == nullptr) return;
  if (use->config) derive_config(*use->config, out);

  const trace::Interval window = signal_window(sources);
  // Parts of a fetch, each over the wall time of the fetches that recorded it.
  struct Part {
    double ns = 0;
    double of_ns = 0;
    void add(const Reading<std::int64_t>& part, double wall) {
      if (!part) return;
      ns += static_cast<double>(*part);
      of_ns += wall;
    }
    Reading<double> ratio() const {
      if (of_ns <= 0) return WhyAbsent::kNotObserved;
      return std::min(1.0, ns / of_ns);
    }
  };
  Part cpu;
  Part decode;
  Part collate;
  std::vector<double> walls;
  for (const trace::Fetch& fetch : use->fetches) {
    if (!begins_in(fetch.when, window)) continue;
    walls.push_back(static_cast<double>(fetch.when.duration_ns()));
    cpu.add(fetch.cpu_ns, walls.back());
    decode.add(fetch.decode_ns, walls.back());
    collate.add(fetch.collate_ns, walls.back());
  }
  derive_fetch_looks(sources.timeline(), *use, out);
  out.fetch_ns_median = median_of(walls);
  out.fetch_cpu_ratio = cpu.ratio();
  out.decode_ratio = decode.ratio();
  out.collate_ratio = collate.ratio();
  // Tokenizing in a collate function is no collating.
  if (out.collate_ratio && out.fetch_collating_ratio.value_or(0) > 0) {
    out.collate_ratio =
        *out.collate_ratio * (1 - *out.collating_work_ratio / *out.fetch_collating_ratio);
  }
  if (out.fetch_cpu_ratio && out.decode_ratio && out.collate_ratio) {
    out.python_ratio = std::max(0.0, *out.fetch_cpu_ratio - *out.decode_ratio - *out.collate_ratio);
  }
}

}  // namespace unstarve::diagnose
