#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/reading.h"
#include "host/host_files.h"
#include "observe/outside/samples/source.h"
#include "trace/store/run_rows.h"

namespace unstarve::observe {

/// What CPU time processes use that fetch batches and do not train, and how much of it the threads
/// that fetch: the rest goes to threads of libraries. Once a second two small files a process.
/// Subject `job`.
class WorkerSource final : public Source {
 public:
  explicit WorkerSource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "workers"; }
  void sample(const Tick& tick, SampleBook& book) override;

  /// Its process is looked at from now on, unless there are kMostWorkers already.
  void note(const trace::FetchRow& fetch);
  /// A process that trains is none of them, whatever it fetches.
  void note_training(std::int64_t pid);

  static constexpr std::size_t kMostWorkers = 32;

 private:
  struct Worker {
    std::int64_t thread = 0;
    Rate process_s = {};
    Rate thread_s = {};
  };
  /// CPU seconds so far, of a process or one of its threads. Absent: kNotObserved where it has
  /// ended.
  Reading<double> cpu_s(const std::string& folder) const;

  const host::HostFiles& files_;
  std::map<std::int64_t, Worker> workers_;  // by process
  std::set<std::int64_t> training_;
};

}  // namespace unstarve::observe
