#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/reading.h"
#include "trace/timeline/host_work.h"
#include "trace/timeline/interval.h"
#include "trace/timeline/loader.h"
#include "trace/timeline/row_totals.h"
#include "trace/timeline/slot_plan.h"
#include "trace/timeline/stack_sample.h"

namespace unstarve::trace {

/// Index of a name in Timeline::names.
using NameId = std::uint32_t;

/// Correlation of operations whose launch was not recorded.
inline constexpr std::int64_t kNoCorrelation = -1;

/// A run's correlations: the process in the upper half, since each counts its calls from 1.
std::int64_t correlation_of(std::int64_t process, std::uint32_t number);
std::int64_t process_of(std::int64_t correlation);  // 0: it has none

enum class DeviceOpKind : std::uint8_t {
  kCompute,        // a kernel that is not communication
  kCommunication,  // an NCCL or RCCL kernel
  kCopy,
  kMemset,  // counts as compute in the partition
};

enum class CopyDirection : std::uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost
};

enum class MemoryKind : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kManaged };

/// Something that ran on a device: a kernel, a copy, a memset.
struct DeviceOp {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t correlation = kNoCorrelation;  // the launching HostCall has the same number
  std::int64_t bytes = 0;                     // copies and memsets
  std::int32_t device = 0;
  std::int32_t stream = 0;
  NameId name = 0;
  DeviceOpKind kind = DeviceOpKind::kCompute;
  CopyDirection direction = CopyDirection::kUnknown;
  MemoryKind source = MemoryKind::kUnknown;
  MemoryKind target = MemoryKind::kUnknown;
};

enum class HostCallKind : std::uint8_t {
  kLaunch,      // puts work on a stream: cudaLaunchKernel, cudaMemcpyAsync, hipLaunchKernel, ...
  kSync,        // waits for the device: cudaDeviceSynchronize, cudaStreamSynchronize, cudaMemcpy
  kAllocation,  // cudaMalloc, cudaFree, cudaHostAlloc: may block, but not in order to wait
  kOther,
};

/// A call of the CUDA or HIP runtime or driver on the host.
struct HostCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t correlation = kNoCorrelation;
  std::int64_t thread = 0;  // the kernel's tid, or a hash of its name
  std::int64_t process = 0;
  NameId name = 0;
  HostCallKind kind = HostCallKind::kOther;
};

/// By what the steps of a process are told.
enum class StepSource : std::uint8_t {
  kOptimizer,    // an optimizer's step; a ProfilerStep of a trace
  kLoaderBatch,  // a batch of a loader, where no optimizer steps
  kBackward,     // a call of backward(), where neither is seen
  kModelCall,    // a call of the model, of a job that infers and that `unstarve tune` runs
  kRepetition,   // once through what the process launches over and over, where none is seen
};

/// One optimizer step: a ProfilerStep, or from optimizer.step to optimizer.step. Where no optimizer
/// steps, from one batch of a loader to the next, or from one backward() to the next; where none of
/// them is seen, what `job` finds to repeat.
struct Step {
  Interval when = {};
  std::int64_t index = 0;
  std::int64_t thread = 0;
  std::int64_t process = 0;
  Reading<std::int64_t> samples = {};
  StepSource source = StepSource::kOptimizer;
};

/// A stretch of time in which the device activity of one process was recorded.
struct RecordedWindow {
  Interval when = {};
  std::int64_t process = 0;
  std::int64_t clock_error_ns = 0;  // of device operations against the host's clock: at most this
  std::int64_t records_lost = 0;
  Interval interruption = {};  // in which ending it held the job up, as writing a trace does
};

struct DeviceInfo {
  std::int32_t index = 0;
  std::string name = {};  // empty when the trace does not say
  bool emulated = false;
  Reading<std::int64_t> total_memory_bytes = {};
  Reading<std::int32_t> multiprocessors = {};
  Reading<double> compute_capability = {};
};

/// What a process that trains, or a trace, said of its device; empty where it said nothing.
struct TrainingDevice {
  std::int64_t process = 0;    // 0: whatever the recording is of
  std::string kind = {};       // torch's word for where the trained parameters lie: "cpu", "cuda"
  std::string build = {};      // of its PyTorch: "cuda", "rocm"; empty: for neither
  std::string unwatched = {};  // why the hook opened no window on the device; empty: it did not say
  std::int64_t ordinal = 0;    // CUDA's number of it in that process
  std::string uuid = {};       // as torch writes it; empty: it did not say
  std::optional<std::string> visible = {};  // CUDA_VISIBLE_DEVICES there; none: it is not set
  Reading<bool> computes_gradients = {};    // without an optimizer; absent: nobody looked
};

/// Which rank of a distributed job a process is, as it says itself.
struct RankNumber {
  std::int64_t process = 0;  // 0: whatever the recording is of
  std::int64_t rank = 0;
  std::int64_t ranks = 0;  // of the job
};

enum class InputKind : std::uint8_t { kKineto, kRun, kNsys, kCsv };

/// Everything that happened, from whatever source, on one clock and sorted by start time.
/// Built once by an importer or from a run, read by diagnose and report; plain data, no locks.
struct Timeline {
  InputKind input = InputKind::kKineto;
  std::string file;
  std::string run_id = {};  // empty unless it is a run
  std::vector<DeviceInfo> devices;
  std::vector<DeviceOp> device_ops;
  std::vector<HostCall> host_calls;
  std::vector<LoaderWait> loader_waits;
  std::vector<Step> steps;
  std::vector<Fetch> fetches;
  std::vector<StageTime> stages;  // of unstarve's own loaders
  std::vector<StackSample> stack_samples;
  std::vector<Stack> stacks;        // that they refer to
  std::vector<HostWork> host_work;  // by name
  std::vector<HostWorkPlace> host_work_places;
  // Where device activity was recorded; none: all the time.
  std::vector<RecordedWindow> windows;
  std::vector<LoaderConfig> loaders;
  std::vector<TrainingDevice> training_devices;
  /// CPUs that worker processes of loaders may use, all of them together; absent: none said it.
  Reading<std::int64_t> worker_cpus = {};
  std::vector<RankNumber> rank_numbers;
  std::vector<std::string> names;  // kernels and calls; index 0 is ""
  SlotPlan thinning;               // of a run that lasted long: of what stretches rows are left out
  TotalsBy thinned;                // of those rows
  std::int64_t windows_left_out = 0;  // of the GPU's records, where such a run has many
  std::int64_t events_lost = 0;       // overwritten or damaged before they could be read

  std::string_view name_of(NameId id) const {
    return id < names.size() ? std::string_view(names[id]) : std::string_view();
  }

  /// Null where nobody said it. Valid as long as this.
  const TrainingDevice* device_of(std::int64_t process) const;
};

/// Gives each distinct name one NameId while a Timeline is being built.
class NameTable {
 public:
  explicit NameTable(Timeline& timeline);
  NameId intern(std::string_view name);

 private:
  Timeline& timeline_;
  std::unordered_map<std::string, NameId> ids_;
};

/// Sorts every list by start time (stable). Importers call it once at the end.
void sort_by_start(Timeline& timeline);

/// True for kernels that move data between ranks, by name.
bool is_communication_kernel(std::string_view kernel_name);

/// What a runtime or driver call of CUDA or HIP does to the host, by name
/// (cudaLaunchKernelExC, hipMemcpyAsync, cuStreamSynchronize, ...).
HostCallKind classify_host_call(std::string_view name);

}  // namespace unstarve::trace
