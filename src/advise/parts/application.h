#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace unstarve::advise {

/// How a remedy is applied to a run of the job without a change of its source: by the hook, which
/// changes the job's loaders as it is told in UNSTARVE_FIX (docs/hook.md).
struct Application {
  std::map<std::string, std::string> fix = {};  // its members: names and values in JSON
  std::string change = {};     // in words: "num_workers=2, prefetch_factor=4 in the DataLoader"
  bool needs_package = false;  // the job has to find unstarve's Python package

  /// Whether unstarve's loader takes the place of torch's.
  bool is_drop_in() const { return fix.count("loader") != 0; }
  /// ... with native threads of its own in the place of worker processes.
  bool has_threads() const {
    const auto loader = fix.find("loader");
    return loader != fix.end() && loader->second == "\"unstarve\"";
  }
  /// Whether `unstarve.cached()` keeps the samples: nothing is recorded of the first pass then.
  bool keeps_samples() const { return fix.count("cache") != 0; }
  /// What the hook has to know of a script in which the remedy stands.
  Application as_written() const;
  /// Names and values for the job's environment.
  std::vector<std::pair<std::string, std::string>> environment() const;
};

/// `more` on top of `kept`. unstarve's loader takes the place of torch's with its workers, and has
/// a cache of its own.
Application combined(const Application& kept, const Application& more);

}  // namespace unstarve::advise
