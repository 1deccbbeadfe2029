#pragma once

#include <atomic>
#include <unordered_map>
#include <vector>

#include "base/cupti_enums.h"
#include "emulated/engine/step_finder.h"
#include "emulated/process/machine.h"
#include "emulated/process/shared_state.h"

namespace unstarve::emulated {

/// The Gpu that programs get: translates its functions into operations of the machine's schedule.
class ProcessGpu final : public Gpu {
 public:
  ProcessGpu(Machine& machine, int index, int machine_index);

  int index() const override { return index_; }
  int machine_index() const override { return machine_index_; }
  const Profile& profile() const override { return machine_.profile(); }

  Stream* find_stream(const void* handle) override;
  Outcome create_stream(bool blocks_on_default, int priority, Stream** out) override;
  Outcome destroy_stream(Stream* stream) override;
  Outcome query(Stream* stream) override;
  Outcome synchronize(Stream* stream) override;
  Outcome synchronize_device() override;
  Outcome reset() override;
  Outcome wait_event(Stream* stream, Event* event) override;
  Outcome launch_host_function(Stream* stream, void (*function)(void*), void* argument) override;

  Outcome launch(Stream* stream, const Kernel* kernel, const Launch& launch) override;
  Outcome run(Stream* stream, const char* name, const MatmulWork& work) override;
  Outcome run(Stream* stream, const char* name, const ConvolutionWork& work) override;
  Outcome run(Stream* stream, const char* name, const OtherWork& work) override;
  Outcome run_for(Stream* stream, const char* name, std::int64_t duration_ns) override;
  Outcome run_gated(Stream* stream, const char* name, const std::shared_ptr<Gate>& gate) override;
  Outcome copy(Stream* stream, const Copy2d& copy) override;
  Outcome fill(Stream* stream, void* target, int value, std::size_t bytes, bool waits) override;

  Outcome allocate(std::size_t bytes, MemoryPlace place, void** out) override;
  Outcome free(void* address) override;
  Outcome allocate_in_order(Stream* stream, std::size_t bytes, void** out) override;
  Outcome free_in_order(Stream* stream, void* address) override;
  void memory_info(std::size_t* free_bytes, std::size_t* total_bytes) override;
  Outcome take_memory(std::size_t bytes) override;
  void give_memory(std::size_t bytes) override;
  Outcome know_range(void* address, std::size_t bytes) override;
  Outcome forget_range(void* address) override;

  Outcome begin_capture(Stream* stream, int mode) override;
  Outcome end_capture(Stream* stream, Graph** out) override;

  /// Makes the context, if there is none: its share of the memory is taken, the ring is there.
  void use();
  bool has_context() const { return context_made_.load(std::memory_order_acquire); }
  SharedState& shared() { return *shared_; }
  /// Into the sums over all processes.
  void count(const Ended& ended);
  /// Other processes are told how much memory this one has.
  void publish_memory();

  /// Puts an operation into a stream, or into the graph that the stream is capturing; waits while
  /// the stream holds as many as it can.
  Outcome submit(Stream* stream, Operation operation, const DataEffect* effect)
      UNSTARVE_EXCLUDES(machine_.mutex);
  /// Keeps the thread until a stream has room for one more operation.
  void wait_for_room(LaneId lane) UNSTARVE_EXCLUDES(machine_.mutex);
  /// What has ended when a wait for `stream` returns.
  std::vector<Machine::Place> places_before(const Stream& stream) UNSTARVE_REQUIRES(machine_.mutex);
  /// Of the calling thread, for the device.
  void record_wait(cupti::SyncKind kind, const Stream* stream, std::int64_t started_ns);

 private:
  struct CopyPlan;

  /// How long work takes here, and on the kinds of GPU that the settings ask for.
  struct PricedEstimate {
    Estimate estimate;
    Prices prices;
  };
  Outcome submit_work(Stream* stream, const char* name, const PricedEstimate& priced,
                      const Launch* launch);
  /// What a kernel makes of integers that are known, where the process talks with others
  /// (collective/integer_kernels.h); nullptr: nothing that can be told.
  std::shared_ptr<Landing> integers_of(const Stream* stream, const KernelWork& work);
  /// Where a step's time is known: finds the step in what the streams are given, and the factor of
  /// durations by which it takes that time.
  void look_for_step(LaneId lane, const Operation& operation) UNSTARVE_REQUIRES(machine_.mutex);
  void take_step_factor(double factor) UNSTARVE_REQUIRES(machine_.mutex);
  void make_stream(Stream& stream, LaneOrder order) UNSTARVE_REQUIRES(machine_.mutex);
  Stream* stream_of_thread();
  std::uint64_t memory_limit() const;
  Outcome allocate_at(std::size_t bytes, MemoryPlace place, void** out);
  void add_to_capture(Stream& stream, Operation operation, const DataEffect* effect)
      UNSTARVE_REQUIRES(machine_.mutex);
  CopyPlan plan(const Copy2d& copy) const;
  Operation operation_of(const CopyPlan& plan) const;
  Outcome capture_copy(Stream& stream, const CopyPlan& plan) UNSTARVE_REQUIRES(machine_.mutex);
  void note_read(const CopyPlan& plan);
  /// What the host finds when such a copy has ended; null: zeros.
  std::shared_ptr<Landing> landing_of(const CopyPlan& plan);
  Outcome copy_on_host(Stream* stream, const CopyPlan& plan);
  Outcome copy_staged_to_device(Stream* stream, const CopyPlan& plan);
  Outcome copy_staged_to_host(Stream* stream, const CopyPlan& plan);
  Outcome copy_direct(Stream* stream, const CopyPlan& plan);
  Outcome copy_large_to_host(Stream* stream, const CopyPlan& plan);

  Machine& machine_;
  const int index_;
  const int machine_index_;
  const std::unique_ptr<SharedState> shared_;
  Stream legacy_;
  std::atomic<std::int64_t> answers_{0};  // single bytes that the host has read
  Stream writer_;  // where large copies to pinned memory are written, beside the copies
  bool looks_for_step_ = false;  // these two are guarded by the machine's mutex
  std::unordered_map<LaneId, StepFinder> step_finders_;
  std::atomic<bool> context_made_{false};
  Mutex context_mutex_;
};

/// What the outermost call of this thread puts on a device is numbered by it.
std::uint32_t current_correlation();

}  // namespace unstarve::emulated
