#include "roofline/roofs/gpu/gpu_roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "roofline/roofs/collective/collective_roofs.h"
#include "roofline/roofs/gemm/torch_gemm.h"
#include "roofline/roofs/gpu/cuda_driver.h"
#include "roofline/roofs/gpu/data_sheet.h"
#include "roofline/roofs/gpu/gpu_peers.h"
#include "roofline/roofs/gpu/gpu_state.h"
#include "roofline/roofs/gpu/gpu_work.h"
#include "roofline/roofs/gpu/torch_memory.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

constexpr double kTransferShare = 0.4;
constexpr double kMemoryShare = 0.08;  // by the driver
constexpr double kTorchMemoryShare = 0.02;
constexpr double kLaunchShare = 0.1;
constexpr double kGemmShare = 0.4;
constexpr std::uint64_t kArrayBytes = 1ULL << 30;
// Of the time of all, where there are several.
constexpr double kPeersShare = 0.05;
constexpr double kCollectivesShare = 0.2;

constexpr const char* kNoPython = "no python3 on PATH: name the job's one by --python";

/// One of the machine's GPUs, and how long it may take; `python` has the torch that multiplies.
struct GpuTask {
  const Machine& machine;
  const std::string& python;
  int ordinal;
  std::int64_t duration_ns;

  std::string prefix() const { return fmt::format("gpu.{}", ordinal); }
  std::string device() const { return fmt::format("cuda:{}", ordinal); }  // torch's name
  std::int64_t part_ns(double share) const {
    return static_cast<std::int64_t>(share * static_cast<double>(duration_ns));
  }
};

/// What the driver alone cannot: `most_bytes` for each of three arrays.
void measure_memory_by_torch(const GpuTask& task, std::uint64_t most_bytes, double memory_peak,
                             Session& session) {
  const std::string prefix = task.prefix() + ".hbm";
  if (session.stopped()) return;
  if (task.python.empty()) {
    session.lacks(prefix + ".read", kNoPython);
    return session.lacks(prefix + ".triad", kNoPython);
  }
  measure_torch_memory({task.python, task.device(), std::min(kArrayBytes, most_bytes),
                        task.part_ns(kTorchMemoryShare)},
                       prefix, memory_peak, session);
}

void measure_gpu_gemm(const GpuTask& task, const std::optional<emulated::PeakRates>& peak,
                      Session& session) {
  const std::string group = task.prefix() + ".gemm";
  if (session.stopped()) return;
  if (task.python.empty()) {
    return session.lacks(group, kNoPython);
  }
  session.doing(group);
  TorchGemmOptions wanted;
  wanted.python = task.python;
  wanted.device = task.device();
  wanted.dtypes = {"float32", "tf32", "float16", "bfloat16"};
  if (!peak || peak->f8_tensor_flops > 0) wanted.dtypes.emplace_back("float8");
  wanted.duration_ns = task.part_ns(kGemmShare);
  const auto gemms = run_torch_gemm(wanted, session);
  if (!gemms) return session.lacks(group, gemms.error().message);
  for (const TorchGemm& gemm : *gemms) {
    const std::string name = fmt::format("{}.{}", group, gemm.dtype);
    if (!gemm.why_not.empty()) {
      session.lacks(name, gemm.why_not);
      continue;
    }
    Roof roof = make_roof(name, "flop/s", gemm.flop_per_s);
    roof.conditions.insert(
        roof.conditions.end(),
        {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}, {"torch", gemm.torch_version}});
    const double spec = peak ? gemm_peak(*peak, gemm.dtype) : 0;
    if (spec > 0) {
      session.add_below(std::move(roof), spec, "the vendor's data sheet, dense");
    } else {
      session.add(std::move(roof));
    }
  }
}

void add_conditions(const Conditions& conditions, std::size_t first, Session& session) {
  for (const auto& [condition, value] : conditions) session.add_condition(first, condition, value);
}

/// Returns who it is; nothing where it cannot be opened.
std::optional<MachineGpu> measure_gpu(const CudaDriver& driver, const GpuTask& task,
                                      Session& session) {
  const std::string prefix = task.prefix();
  MachineGpu who;
  std::optional<emulated::PeakRates> peak;
  const std::size_t first = session.result().roofs.size();
  std::optional<GpuState> state;
  std::uint64_t memory_bytes = 0;
  double memory_peak = 0;
  {
    const auto gpu = CudaGpu::open(driver, task.ordinal);
    if (!gpu) {
      session.lacks(prefix, gpu.error().message);
      return std::nullopt;
    }
    who = {(*gpu)->name(), (*gpu)->uuid()};
    peak = data_sheet(who.name);
    state.emplace(who.uuid);
    measure_transfers(**gpu, prefix, task.machine.free_memory_bytes / 8,
                      task.part_ns(kTransferShare), session);
    memory_bytes = (*gpu)->memory_bytes();
    memory_peak = peak ? peak->memory_bytes_per_s : 0;
    if (memory_peak <= 0) memory_peak = (*gpu)->memory_peak_bytes_per_s();
    measure_device_memory(**gpu, prefix, memory_peak, task.part_ns(kMemoryShare), session);
    measure_launches(**gpu, prefix, task.part_ns(kLaunchShare), session);
  }
  measure_memory_by_torch(task, memory_bytes / 8, memory_peak, session);
  measure_gpu_gemm(task, peak, session);
  Conditions conditions = state->conditions();
  conditions.emplace_back("gpu", who.name);
  conditions.emplace_back("uuid", who.uuid);
  conditions.emplace_back("cuda_version", std::int64_t{driver.cuda_version()});
  if (is_emulated(who)) conditions.emplace_back("modelled", true);
  add_conditions(conditions, first, session);
  return who;
}

/// What all the driver's GPUs reach together. `duration_ns`: of all that is measured of GPUs.
void measure_together(const CudaDriver& driver, const std::vector<MachineGpu>& gpus,
                      const std::string& python, std::int64_t duration_ns, Session& session) {
  std::vector<std::string> uuids;
  for (const MachineGpu& gpu : gpus) uuids.push_back(gpu.uuid);
  const auto part_ns = [duration_ns](double share) {
    return static_cast<std::int64_t>(share * static_cast<double>(duration_ns));
  };
  const std::size_t first = session.result().roofs.size();
  const GpuGroupState state(uuids);
  measure_peers(driver, state, part_ns(kPeersShare), session);
  const std::size_t first_collective = session.result().roofs.size();
  if (!session.stopped()) {
    measure_collectives(static_cast<int>(gpus.size()), python, part_ns(kCollectivesShare), session);
  }
  add_conditions(state.links(), first_collective, session);
  Conditions conditions = state.conditions();
  conditions.emplace_back("gpu", gpus.front().name);
  conditions.emplace_back("cuda_version", std::int64_t{driver.cuda_version()});
  if (is_emulated(gpus.front())) conditions.emplace_back("modelled", true);
  add_conditions(conditions, first, session);
}

}  // namespace

void measure_gpus(const Machine& machine, const GpuOptions& options, const std::string& python,
                  std::int64_t duration_ns, Session& session) {
  const auto driver = CudaDriver::open(options.driver);
  if (!driver) return session.lacks("gpu", driver.error().message);
  const int count = (*driver)->gpu_count();
  if (count == 0) return session.lacks("gpu", "CUDA's driver shows no GPU");
  const double alone = count > 1 ? 1 - kPeersShare - kCollectivesShare : 1;
  const auto each_ns = static_cast<std::int64_t>(alone * static_cast<double>(duration_ns) / count);
  std::vector<MachineGpu> gpus;
  for (int i = 0; i < count && !session.stopped(); ++i) {
    if (auto gpu = measure_gpu(**driver, {machine, python, i, each_ns}, session)) {
      gpus.push_back(std::move(*gpu));
    }
  }
  if (session.stopped()) return;
  if (count > 1 && static_cast<int>(gpus.size()) == count) {
    return measure_together(**driver, gpus, python, duration_ns, session);
  }
  for (const char* group : {"gpu.peers", "gpu.nccl"}) {
    session.lacks(group, count == 1 ? "one GPU" : "not every GPU can be opened");
  }
}

}  // namespace unstarve::roofline
