#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "diagnose/signals/signals.h"
#include "job/job_view.h"
#include "trace/timeline/timeline.h"

namespace unstarve::advise {

/// What remedies have to know of the job beside its signals.
struct JobFacts {
  std::string loader_place;           // where it makes the loader that it waits for: "train.py:41"
  trace::DataSet data;                // that this loader loads
  trace::TrainingDevice device = {};  // that it trains on; without a kind: the job did not say
  std::int64_t passes = 0;       // over the data that feed the training, begun; 0: not recorded
  bool infers = false;           // neither an optimizer nor backward() was seen
  std::string iterated_at = {};  // where it takes that loader's batches; empty: not known
  bool evaluates = false;        // that loader feeds no training, but an evaluation
  // Of the loaders with the other purpose, the one that is waited for longest; empty: none.
  std::string other_place = {};
  double other_share = 0;        // of the waiting for these two
  std::string loader_file = {};  // that `loader_place` names, from the root on; empty: not known
};

/// " at train.py:41 (iterated at train.py:50)", to stand behind "the data loader"; as much of it as
/// is known.
std::string which_loader(const JobFacts& job);
/// The same, and behind it where that is much ", and for 40 % of that for the evaluation's at
/// train.py:52".
std::string which_loaders(const JobFacts& job);

/// Of the loader that feeds the training of a rank (an index into job.ranks()).
JobFacts job_facts(const job::JobView& job, std::size_t rank);

/// Passes over the data that a loader of a rank (an index into job.ranks()) has begun; 0: not
/// recorded.
std::int64_t passes_begun(const job::JobView& job, std::size_t rank, const job::LoaderUse& loader);

/// Whether unstarve's loader may read such data by itself. Nothing is known against data that
/// nobody named; whether the loader takes the transforms only it can tell.
bool may_load_natively(const trace::DataSet& data);

/// Whether several workers may give each sample several times: an iterable data set of which nobody
/// saw that its workers give other samples.
bool may_repeat_in_workers(const trace::DataSet& data);

/// Whether the samples are images, as far as was seen: some are decoded, or a folder of them is
/// named. Words of images are for these alone.
bool loads_images(const diagnose::Signals& signals, const JobFacts& job);

/// The folder of images, one sub-folder a class, that the data set reads from; empty where it is
/// another data set.
std::string image_folder(const trace::DataSet& data);

/// The same, where the data set is all of what lies there: a Subset is not.
std::string whole_image_folder(const trace::DataSet& data);

}  // namespace unstarve::advise
