#include "golden/planted_job.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace unstarve::golden {

namespace {

using trace::CopyDirection;
using trace::DeviceOp;
using trace::DeviceOpKind;
using trace::HostCallKind;
using trace::MemoryKind;

constexpr std::int64_t kThread = 101;
constexpr std::int64_t kProcess = 100;
constexpr double kLatencyUs = 3;
constexpr double kCallUs = 5;

std::int64_t ns(double us) { return std::llround(us * 1000); }

}  // namespace

PlantedJob::PlantedJob() : names_(timeline_) {
  trace::DeviceInfo device;
  device.name = "planted";
  timeline_.devices.push_back(device);
}

void PlantedJob::begin_step() { step_start_ = now_; }

void PlantedJob::end_step() {
  trace::Step step;
  step.when = {ns(step_start_), ns(now_)};
  step.index = static_cast<std::int64_t>(timeline_.steps.size());
  step.thread = kThread;
  step.process = kProcess;
  timeline_.steps.push_back(step);
}

void PlantedJob::wait(double us, std::int64_t ready_batches) {
  trace::LoaderWait wait;
  wait.when = {ns(now_), ns(now_ + us)};
  wait.thread = kThread;
  wait.process = kProcess;
  wait.ready_batches = ready_batches;
  timeline_.loader_waits.push_back(wait);
  now_ += us;
}

std::int64_t PlantedJob::call(double us, const char* name, HostCallKind kind) {
  trace::HostCall call;
  call.start_ns = ns(now_);
  call.end_ns = ns(now_ + us);
  call.correlation = ++correlation_;
  call.thread = kThread;
  call.process = kProcess;
  call.name = names_.intern(name);
  call.kind = kind;
  timeline_.host_calls.push_back(call);
  now_ += us;
  return call.correlation;
}

DeviceOp PlantedJob::op(double start, double us, const char* name, DeviceOpKind kind) {
  DeviceOp op;
  op.start_ns = ns(start);
  op.end_ns = ns(start + us);
  op.stream = 7;
  op.name = names_.intern(name);
  op.kind = kind;
  return op;
}

void PlantedJob::kernels(int count, double us, double call_us) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t correlation = call(call_us, "cudaLaunchKernel", HostCallKind::kLaunch);
    const double start = std::max(now_ + kLatencyUs, compute_free_);
    DeviceOp kernel = op(start, us, "volta_sgemm_128x64_nn", DeviceOpKind::kCompute);
    kernel.correlation = correlation;
    timeline_.device_ops.push_back(kernel);
    compute_free_ = start + us;
  }
}

void PlantedJob::copy_in(std::int64_t bytes, double us, bool pageable) {
  const double start = std::max(now_ + kLatencyUs, compute_free_);
  const double call_us = pageable ? start + us + 2 - now_ : kCallUs;
  DeviceOp copy = op(
      start, us, pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)",
      DeviceOpKind::kCopy);
  copy.bytes = bytes;
  copy.direction = CopyDirection::kHostToDevice;
  copy.source = pageable ? MemoryKind::kPageable : MemoryKind::kPinned;
  copy.target = MemoryKind::kDevice;
  copy.correlation = call(call_us, "cudaMemcpyAsync", HostCallKind::kLaunch);
  timeline_.device_ops.push_back(copy);
  compute_free_ = start + us;
}

void PlantedJob::item() {
  constexpr double kCopyUs = 2;
  const double start = std::max(now_ + kLatencyUs, compute_free_);
  DeviceOp copy = op(start, kCopyUs, "Memcpy DtoH (Device -> Pageable)", DeviceOpKind::kCopy);
  copy.bytes = 4;
  copy.direction = CopyDirection::kDeviceToHost;
  copy.source = MemoryKind::kDevice;
  copy.target = MemoryKind::kPageable;
  copy.correlation = call(start + kCopyUs + 4 - now_, "cudaMemcpyAsync", HostCallKind::kLaunch);
  timeline_.device_ops.push_back(copy);
  compute_free_ = start + kCopyUs;
  synchronize();
}

void PlantedJob::synchronize() {
  const double until = std::max({compute_free_, communication_free_, now_}) + 4;
  call(until - now_, "cudaStreamSynchronize", HostCallKind::kSync);
}

void PlantedJob::all_reduce(double us, bool behind_compute) {
  const std::int64_t correlation = call(kCallUs, "cudaLaunchKernelExC", HostCallKind::kLaunch);
  double start = std::max(now_ + kLatencyUs, communication_free_);
  if (behind_compute) start = std::max(start, compute_free_);
  DeviceOp kernel = op(start, us, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
                       DeviceOpKind::kCommunication);
  kernel.stream = 20;
  kernel.correlation = correlation;
  timeline_.device_ops.push_back(kernel);
  communication_free_ = start + us;
  if (behind_compute) compute_free_ = communication_free_;
}

void PlantedJob::fetch(double us, double cpu, double decode, double collate) {
  trace::Fetch fetch;
  fetch.when = {ns(now_), ns(now_ + us)};
  fetch.process = kProcess;
  fetch.thread = kThread;
  fetch.cpu_ns = ns(us * cpu);
  fetch.decode_ns = ns(us * decode);
  fetch.collate_ns = ns(us * collate);
  timeline_.fetches.push_back(fetch);
  wait(us);
}

trace::Timeline PlantedJob::take() {
  sort_by_start(timeline_);
  return timeline_;
}

std::string to_kineto_json(const trace::Timeline& timeline) {
  using Json = nlohmann::json;
  Json events = Json::array();
  const auto add = [&events](const std::string& name, const char* category, std::int64_t start_ns,
                             std::int64_t end_ns) -> Json& {
    events.push_back({{"ph", "X"},
                      {"cat", category},
                      {"name", name},
                      {"pid", kProcess},
                      {"tid", kThread},
                      {"ts", static_cast<double>(start_ns) / 1e3},
                      {"dur", static_cast<double>(end_ns - start_ns) / 1e3}});
    return events.back();
  };
  for (const trace::Step& step : timeline.steps) {
    add("ProfilerStep#" + std::to_string(step.index), "user_annotation", step.when.start_ns,
        step.when.end_ns);
  }
  for (const trace::LoaderWait& wait : timeline.loader_waits) {
    add("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation",
        wait.when.start_ns, wait.when.end_ns);
  }
  for (const trace::HostCall& call : timeline.host_calls) {
    add(std::string(timeline.name_of(call.name)), "cuda_runtime", call.start_ns,
        call.end_ns)["args"]["correlation"] = call.correlation;
  }
  for (const DeviceOp& op : timeline.device_ops) {
    const bool copies = op.kind == DeviceOpKind::kCopy;
    Json& event = add(std::string(timeline.name_of(op.name)), copies ? "gpu_memcpy" : "kernel",
                      op.start_ns, op.end_ns);
    event["pid"] = op.device;
    event["tid"] = op.stream;
    event["args"] = {{"device", op.device}, {"stream", op.stream}, {"correlation", op.correlation}};
    if (copies) event["args"]["bytes"] = op.bytes;
  }
  return Json{{"schemaVersion", 1}, {"traceEvents", events}}.dump();
}

}  // namespace unstarve::golden
