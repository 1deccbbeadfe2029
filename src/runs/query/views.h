#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runs/collection.h"
#include "trace/run_reader.h"
#include "trace/store/sqlite.h"

namespace unstarve::runs {

// The views that queries read (docs/formats/query.md).

/// Tables of a run's store that a query may read besides the views (docs/formats/run.md).
std::span<const char* const> run_tables();

/// Views over a run: steps, samples, findings, trials. They belong to the connection: the store is
/// not changed. A column that a run of an earlier version lacks is NULL.
Status make_run_views(trace::Database& store, const trace::RunReader& run, const std::string& name);
std::span<const char* const> run_views();

/// A database in memory with what a query over a folder reads: runs, findings, trials.
/// `states`: of the collection's runs, in their order.
Result<trace::Database> make_folder_tables(const Collection& collection,
                                           const std::vector<RunState>& states);
std::span<const char* const> folder_views();

}  // namespace unstarve::runs
