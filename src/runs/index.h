#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runs/run_summary.h"
#include "trace/store/sqlite.h"

namespace unstarve::runs {

/// The file in a folder of runs that keeps what was read of them. It is never the truth: whoever
/// reads it compares each run's fingerprint, and it may be removed at any time.
inline constexpr const char* kIndexFile = ".index.sqlite";

/// The index's schema. An index of another one counts as none.
inline constexpr const char* kIndexSchema = "unstarve.index/1";

using RunsByName = std::map<std::string, CollectedRun>;

/// Nothing where there is no index, or it is damaged, or of another version.
RunsByName read_index(const std::string& folder);

/// Puts a new index in the place of the one that is there, at once: who reads finds the one or the
/// other, and no lock is needed. Errors: the folder cannot be written; a full disk.
Status write_index(const std::string& folder, const std::vector<CollectedRun>& runs);

/// The index's tables in a database of its own, in memory.
Result<trace::Database> tables_of(const std::vector<CollectedRun>& runs);

}  // namespace unstarve::runs
