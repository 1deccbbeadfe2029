#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::runs {

/// Where a run keeps what it is read from.
inline constexpr const char* kStore = "run.sqlite";
/// Where `unstarve tune` has its runs, in the folder of the search.
inline constexpr const char* kTrialsFolder = "trials";

/// A run that lies in a folder of runs, and by what it is seen that it was changed.
struct FoundRun {
  std::string name;  // its path below the folder
  /// Size, times and number of the store, its log, the tags and the note, its own and its group's.
  std::string fingerprint;
  std::int64_t changed_ns = 0;  // the latest of those times, in ns since 1970
};

/// The runs in a folder, and those in folders there that are no run (a search, runs of one id, runs
/// of one project), in no order. Links and hidden folders are passed over. Costs some ten calls of
/// the system a run. Errors: kNotFound, kNoPermission; kInvalidArgument where `folder` is a run
/// itself.
Result<std::vector<FoundRun>> find_runs(const std::string& folder);

/// One of them; none where no store lies in `folder`/`name`.
std::optional<FoundRun> find_run(const std::string& folder, const std::string& name);

/// The folder's whole path, without a slash at its end, behind which a link would be followed.
std::string whole_path(const std::string& folder);

/// Whether a store lies there.
bool is_run(const std::string& folder);

}  // namespace unstarve::runs
