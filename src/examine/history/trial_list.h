#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/speedup.h"

namespace unstarve::examine {

/// One trial of `run --fix`, as its folder keeps it: names of runs in that folder, and words that
/// cannot be had from those again.
struct ListedTrial {
  std::string remedy;  // also the name of its first run
  std::string how;
  std::string base;     // the run whose advice it is: "before", or of a remedy that was kept
  std::string opening;  // of the runs of the same setting, the one before the remedy's
  std::string again;    // and the one after it; empty: none
  std::string permanent;
  std::string diff;
  std::string run = {};  // of several with the remedy, the fastest; empty: there is one
  // What whoever ran them found; none: it follows from the runs.
  std::optional<predict::Speedup> measured = {};
  std::string outcome = {};  // as trial::to_string(Outcome)
};

/// Keeps what was tried so far, in the order in which it was.
Status write_trial_list(const std::string& folder, const std::vector<ListedTrial>& trials);

/// Empty where a folder has no such list, as those of `demo`, or one that cannot be understood.
std::vector<ListedTrial> read_trial_list(const std::string& folder);

}  // namespace unstarve::examine
