#pragma once

#include <string>
#include <string_view>

#include "advise/catalogue.h"
#include "diagnose/signals/signals.h"
#include "predict/resampling.h"

namespace unstarve::advise {

/// A remedy for work that a data set does for each sample, and that people of its field do
/// otherwise (diagnose/signals/fetch_work.h).
struct KnownWork {
  std::string id;
  diagnose::Signal share;  // of the looks at fetches, that find them at this work
  std::string_view how;    // an imperative sentence, with {} for that share: "62 %"
  /// Of the work's time, what no longer is a fetch's. Where it is time on the CPU, the gain
  /// follows.
  predict::Range goes = {0.9, 1.0};
  /// Whether the samples are made beforehand: where they draw no random numbers, whatever else
  /// makes them may go as well, but for collating them.
  bool makes_samples = false;
  /// Work that takes less time then; nullptr: none.
  diagnose::Signal lightens = nullptr;
};

/// Whether some known work takes so much of the fetches that its remedy is offered, in the place of
/// one for whatever a data set does.
bool has_known_work(const diagnose::Signals& signals);

/// The remedy is offered for batches that come too late, where the work is much of a fetch.
CatalogueEntry known_work_entry(const KnownWork& work);

}  // namespace unstarve::advise
