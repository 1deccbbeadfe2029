#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/reading.h"
#include "observe/outside/samples/sample_book.h"
#include "observe/outside/threads/fetch_source.h"
#include "observe/outside/threads/library_source.h"
#include "observe/outside/threads/training_source.h"
#include "observe/outside/threads/worker_source.h"
#include "trace/store/run_sink.h"
#include "trace/text/hook_text.h"

namespace unstarve::observe {

/// What a person wants to see while the job runs.
struct LiveView {
  std::int64_t elapsed_ns = 0;  // since watching began
  std::int64_t ticks = 0;
  std::int64_t steps = 0;                // of all processes
  std::int64_t steps_of_one = 0;         // of the process that has made most: ranks step together
  std::int64_t samples = 0;              // in those steps
  std::int64_t waits = 0;                // calls of a loader's next()
  std::int64_t waited_ns = 0;            // in them, of all processes
  std::int64_t training_processes = 0;   // that made steps
  Reading<std::int64_t> loader_workers;  // of the loader that was iterated last; threads of ours
  Reading<std::int64_t> last_step_ns;
  Reading<std::int64_t> last_step_ended_ns;
  std::vector<LatestSample> latest;              // of every metric
  std::vector<Reading<double>> gpu_utilization;  // of the job's, the last ticks, oldest first
};

/// Ticks kept in LiveView::gpu_utilization.
inline constexpr std::size_t kLiveTicks = 300;

/// Passes rows on and counts what LiveView shows of them.
class CountingSink final : public trace::RunSink {
 public:
  /// `fetches`, `libraries` and `workers` are told of every fetch, `training` of the threads that
  /// step or wait, and `workers` of their processes.
  CountingSink(trace::RunSink& next, FetchSource& fetches, LibrarySource& libraries,
               TrainingSource& training, WorkerSource& workers)
      : next_(next),
        fetches_(fetches),
        libraries_(libraries),
        training_threads_(training),
        workers_(workers) {}
  const LiveView& counts() const { return counts_; }
  /// What the first process said that trains on a GPU; without a kind: none did so far.
  const trace::TrainingDevice& device() const { return device_; }

  void add(const trace::ProcessRow& row) override { next_.add(row); }
  void add(const trace::ProcessEnd& row) override { next_.add(row); }
  void add(const trace::StepRow& row) override {
    ++counts_.steps;
    counts_.samples += row.samples.value_or(0);
    counts_.steps_of_one = std::max(counts_.steps_of_one, ++steps_of_[row.pid]);
    counts_.training_processes = static_cast<std::int64_t>(steps_of_.size());
    counts_.last_step_ns = row.when.duration_ns();
    counts_.last_step_ended_ns = row.when.end_ns;
    training_threads_.note(row.pid, row.thread);
    workers_.note_training(row.pid);
    next_.add(row);
  }
  void add(const trace::LoaderRow& row) override {
    counts_.loader_workers = row.num_workers;
    next_.add(row);
  }
  void add(const trace::WaitRow& row) override {
    ++counts_.waits;
    counts_.waited_ns += row.when.duration_ns();
    training_threads_.note(row.pid, row.thread);
    workers_.note_training(row.pid);
    next_.add(row);
  }
  void add(const trace::FetchRow& row) override {
    fetches_.note(row);
    libraries_.note(row);
    workers_.note(row);
    next_.add(row);
  }
  void add(const trace::StageRow& row) override { next_.add(row); }
  void add(const trace::SyncRow& row) override { next_.add(row); }
  void add(const trace::StackRow& row, std::string_view stack) override { next_.add(row, stack); }
  void add(const trace::HostWorkRow& row) override { next_.add(row); }
  void add(const trace::DeviceRow& row) override { next_.add(row); }
  void add(const trace::WindowRow& row) override { next_.add(row); }
  void add(const trace::DeviceOp& operation, std::string_view name) override {
    next_.add(operation, name);
  }
  void add(const trace::HostCall& call, std::string_view name) override { next_.add(call, name); }
  void set_process_text(const trace::ProcessId& id, std::string_view text) override {
    trace::TrainingDevice device = trace::parse_hook_text(text).device;
    if (device_.kind.empty() && device.kind == "cuda") device_ = std::move(device);
    next_.set_process_text(id, text);
  }
  void set_mark(const trace::RingMark& mark, bool device_ring) override {
    next_.set_mark(mark, device_ring);
  }

 private:
  trace::RunSink& next_;
  FetchSource& fetches_;
  LibrarySource& libraries_;
  TrainingSource& training_threads_;
  WorkerSource& workers_;
  LiveView counts_;
  trace::TrainingDevice device_;
  std::map<std::int64_t, std::int64_t> steps_of_;  // by process
};

}  // namespace unstarve::observe
