#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "advise/parts/prediction_basis.h"
#include "base/reading.h"
#include "diagnose/signals/signals.h"
#include "predict/what_if.h"

namespace unstarve::advise {

/// Among a remedy's values: it has more workers, or threads, than the job may use CPUs.
inline constexpr const char* kBeyondCpus = "beyond_cpus";

/// Worker processes that would hide a batch's time behind the rest of the step, whatever the
/// machine has; at least 2, since one slow batch must not stop the step.
Reading<double> needed_workers(const diagnose::Signals& signals);

/// Batches that may lie ready or be in work at a time: those that a quarter of the memory that is
/// available holds. Infinite where their size or the memory is not known.
double batches_in_memory(const diagnose::Signals& signals);

/// Worker processes that CPUs, memory and good sense allow where fetches wait for storage and not
/// for CPUs, each with so many batches ahead; 0 where they do not wait for it.
double waiting_workers(const diagnose::Signals& signals, std::int64_t batches_ahead);

/// How many worker processes to have.
struct Workers {
  double count = 0;
  bool beyond_cpus = false;  // since their fetches wait for storage and leave the CPUs alone
};

/// Batches ahead of each worker beyond the CPUs: torch's usual number, since all of them are
/// memory.
inline constexpr std::int64_t kPrefetchBeyondCpus = 2;

/// Whether a rule is about batches that come too late, which more workers may bring in time.
bool is_about_waiting(std::string_view rule);

/// As many as are needed and the CPUs allow, or, where fetches wait for storage, storage; nothing
/// when the CPUs are busy already, or as many run.
std::optional<Workers> workers_for(const diagnose::Signals& signals, const Reading<double>& needed);

/// As a model takes it: so many workers, each with `prefetch_factor` batches ahead, that hand over
/// batches as the job's are.
predict::Remedy model_of_workers(std::int64_t workers, std::int64_t prefetch_factor,
                                 const PredictionBasis& basis);

/// A quota may leave a fraction of a CPU; a thread is a thread all the same.
double whole_cpus(double effective_cpus);

}  // namespace unstarve::advise
