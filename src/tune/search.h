#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/speedup.h"
#include "tune/judging/parity.h"
#include "tune/levers/catalogue.h"
#include "tune/trials/trials.h"

namespace unstarve::tune {

/// What became of one lever.
struct LeverResult {
  Lever lever;
  bool tried = false;
  bool kept = false;
  bool proposed = false;  // faster, but it changes the training
  std::optional<predict::Speedup> speedup;
  Parity parity = Parity::kNotNeeded;
  std::int64_t peak_memory_bytes = 0;  // 0: not known
  double cold_s = 0;                   // from the start to the first step
  std::string why;
};

struct TuneResult {
  std::vector<LeverResult> levers;
  TrialResult baseline;
  double noise_ratio = 0;
  std::int64_t trials = 0;
  std::string unfinished;                // why the search ended early; empty: it did not
  std::vector<std::string> kept;         // ids
  std::optional<predict::Speedup> best;  // with all that was kept; none: nothing was
  std::string losses_remark;             // of the runs that parity rests on
};

struct SearchOptions {
  std::vector<Argument> arguments;
  std::vector<std::string> only;  // names of levers ("threads"), or ids; empty: all
  std::int64_t cpus = 1;
};

/// Told what a search does; called from one thread.
class SearchListener {
 public:
  virtual ~SearchListener() = default;
  virtual void has_levers(const std::vector<Lever>& /*levers*/) {}
  virtual void begins(const TrialRequest& /*request*/, std::int64_t /*number*/) {}
  virtual void noise(double /*noise_ratio*/) {}
  virtual void judged(const LeverResult& /*result*/) {}
};

/// The job twice as it is, then with one lever at a time, with a run without it after each; then
/// together what was faster, the fastest first; then each of these left out once. What is kept is
/// faster than the noise and computes the same. Ends early, with what it has, where no time is
/// left. Errors: kJobFailed where the job as it is cannot be measured; those of Trials::run().
Result<TuneResult> search(Trials& trials, const SearchOptions& options, SearchListener& listener);

}  // namespace unstarve::tune
