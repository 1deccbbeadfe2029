#pragma once

#include <cstdint>
#include <vector>

#include "job/rank/host_index.h"
#include "job/rank/loader_use.h"
#include "job/rank/step_phase.h"
#include "trace/timeline/timeline.h"

namespace unstarve::job {

/// One process that trains, with what belongs to it. A job on one GPU has one; of a distributed job
/// that was recorded whole, each rank is one.
struct Rank {
  std::int64_t process = 0;           // 0: the recording does not say
  Reading<std::int64_t> number = {};  // as the job numbers its ranks; absent: it does not say
  Reading<std::int64_t> of = {};      // how many ranks the job has
  std::vector<ThreadKey> training;    // threads that train; sorted, never empty
  std::vector<trace::Step> steps;     // by start, the warm-up's too
  std::vector<StepPhase> phases;      // of each step
  // Of those threads for any loader, for its batches and for its workers' start: disjoint, by start
  std::vector<trace::Interval> waits;
  std::vector<trace::HostWork> host_work;  // that holds the training threads up, by start
  std::vector<trace::Interval> occupied;   // the same: disjoint, by start
  std::vector<LoaderUse> loaders;  // that they waited for; the one that feeds the training first
  // In which its device's activity was recorded: disjoint, by start. None: all the time.
  std::vector<trace::Interval> windows;
  // In which recording held it up: disjoint, by start.
  std::vector<trace::Interval> interruptions;
  // Of steps that a long run no longer holds, whatever their phase, and of those in training.
  trace::RowTotals thinned = {};
  trace::RowTotals thinned_training = {};
  Reading<trace::Interval> span = {};  // of the steps behind the warm-up; absent without steps

  /// The loader that feeds the training; nullptr when none is recorded.
  const LoaderUse* training_loader() const;
  /// How long a loader was waited for behind the warm-up.
  std::int64_t waited_ns(const LoaderUse& use) const;
  /// The loader of whose waiting is spoken: the one that feeds the training, unless an evaluation's
  /// is waited for more than twice as long.
  const LoaderUse* waited_loader() const;
  /// The steps in which the job trained and did nothing else.
  std::vector<trace::Step> training_steps() const;
};

/// Gathers what belongs to the process of `launcher`, the thread that launches a device's work
/// ({0, 0}: nobody knows). A recording whose steps carry another process id (seen in real traces)
/// keeps those of the process that has most. `repeated` are its steps where those of the recording
/// are not meant, or there are none.
Rank gather_rank(const trace::Timeline& timeline, ThreadKey launcher,
                 const std::vector<trace::Step>& repeated = {});

}  // namespace unstarve::job
