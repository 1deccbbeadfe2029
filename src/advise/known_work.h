#pragma once

#include <string>
#include <string_view>

#include "advise/catalogue.h"
#include "diagnose/signals/signals.h"
#include "predict/resampling.h"

namespace unstarve::advise {

/// Work that takes less of a fetch is no reason to change a data set.
inline constexpr double kMuchOfAFetch = 0.3;
/// Looks are few: 20 a second, and a run of some seconds has two standard errors of this.
inline constexpr double kErrorOfShare = 0.08;

/// A remedy for work that a data set does for each sample, and that people of its field do
/// otherwise (diagnose/signals/fetch_work.h).
struct KnownWork {
  std::string id;
  diagnose::Signal share;  // of the looks at fetches, that find them at this work
  // An imperative sentence, with {share} for that share ("62 %") and {cached} where keeping samples
  // does as well, if the work is not in the collate function.
  std::string_view how;
  /// Of the work's time, what no longer is a fetch's.
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

/// Whether images are decoded and then made smaller, of a data set for which unstarve's loader,
/// which decodes what is needed, cannot be had.
bool may_decode_smaller(const Situation& situation);

/// The remedy is offered for batches that come too late, where the work is much of a fetch.
CatalogueEntry known_work_entry(const KnownWork& work);

}  // namespace unstarve::advise
