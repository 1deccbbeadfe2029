#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "isolation/isolation.h"
#include "tune/levers/catalogue.h"
#include "tune/result/tune_result.h"
#include "tune/trials/trials.h"

namespace unstarve::tune {

/// The change to try next on top of `kept` (ids, in their order); none: no further one. It is asked
/// again after each, which the listener has been told the outcome of.
using NextChange =
    std::function<Result<std::optional<Lever>>(const std::vector<std::string>& kept)>;

struct SearchOptions {
  // What is tried follows from the runs themselves. None: the levers of the catalogue, all of which
  // are looked at, with what else may gain something beside them.
  NextChange next = {};
  std::string first_label = "baseline";
  std::vector<Argument> arguments;
  std::vector<std::string> only;  // names of levers ("threads"), groups or ids; empty: all
  std::int64_t cpus = 1;
  std::map<std::string, std::string> allocators = {};  // of the host's memory: names and files
  std::vector<std::string> allowed = {};  // levers that are tried only if somebody allows it
  double trial_seconds = 8;
  int parity_steps = 0;  // whose losses are compared; 0: as many as two trials take, 20 to 200
  // When all is decided: writes what is kept as a change of the script, and says which run shows
  // what that gains. None: there is nothing to run.
  std::function<std::optional<TrialRequest>(TuneResult&)> write = {};
};

/// Told what a search does; called from one thread.
class SearchListener {
 public:
  virtual ~SearchListener() = default;
  /// Once, before the first trial: how the job's files are kept from them.
  virtual void isolated(const isolation::Isolation& /*by*/) {}
  virtual void has_levers(const std::vector<Lever>& /*levers*/) {}
  virtual void begins(const TrialRequest& /*request*/, std::int64_t /*number*/) {}
  virtual void ended(const TrialRequest& /*request*/, const TrialResult& /*result*/) {}
  virtual void noise(double /*noise_ratio*/) {}
  virtual void judged(const LeverResult& /*result*/) {}
};

/// With SearchOptions::next: the job twice as it is, then with each change on top of what is kept,
/// with a run without it after each; then each of those left out once, and all once more.
/// Else: the job twice as it is, then with one lever at a time, with a run without it after each;
/// then together what was faster, the fastest first, and beside it what by itself was not certain
/// to be faster or slower; then each of these left out once. What is kept is faster than the noise
/// and computes the same. Last, beside what is kept, the size of the batch. Ends early, with what
/// it has, where no time is left. Errors: kJobFailed where the job as it is cannot be measured;
/// those of Trials::run().
Result<TuneResult> search(Trials& trials, const SearchOptions& options, SearchListener& listener);

}  // namespace unstarve::tune
