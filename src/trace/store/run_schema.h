#pragma once

#include <cstdint>

#include "base/result.h"
#include "trace/store/sqlite.h"

namespace unstarve::trace {

/// Makes the tables of run.sqlite (docs/formats/run.md) and sets how it is written: a write-ahead
/// log, so that readers see whole commits while the run goes on and after a kill.
Status create_run_schema(Database& database, std::int64_t pages_max);

/// Makes the tables that runs of earlier versions do not have.
Status add_later_tables(Database& database);

/// One prepared insertion per table.
struct RunStatements {
  Statement put, process, process_end, process_text, step, loader, wait, fetch, stage, sync, stack,
      stack_sample, host_work, device, gpu_error, window, ring, metric, sample, finding, prediction;

  static Result<RunStatements> prepare(const Database& database);
};

}  // namespace unstarve::trace
