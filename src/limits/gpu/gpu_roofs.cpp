#include "limits/gpu/gpu_roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "limits/gemm/torch_gemm.h"
#include "limits/gpu/cuda_driver.h"
#include "limits/gpu/data_sheet.h"
#include "limits/gpu/gpu_state.h"
#include "limits/gpu/gpu_work.h"
#include "limits/repeats.h"

namespace unstarve::limits {

namespace {

constexpr double kTransferShare = 0.4;
constexpr double kMemoryShare = 0.1;
constexpr double kLaunchShare = 0.1;
constexpr double kGemmShare = 0.4;

/// One of the machine's GPUs, and how long it may take; `python` has the torch that multiplies.
struct GpuTask {
  const Machine& machine;
  const std::string& python;
  int ordinal;
  std::int64_t duration_ns;

  std::string prefix() const { return fmt::format("gpu.{}", ordinal); }
  std::int64_t part_ns(double share) const {
    return static_cast<std::int64_t>(share * static_cast<double>(duration_ns));
  }
};

void measure_gpu_gemm(const GpuTask& task, const std::optional<emulated::PeakRates>& peak,
                      Session& session) {
  const std::string group = task.prefix() + ".gemm";
  if (session.stopped()) return;
  if (task.python.empty()) {
    return session.lacks(group, "no python3 on PATH: name the job's one by --python");
  }
  session.doing(group);
  TorchGemmOptions wanted;
  wanted.python = task.python;
  wanted.device = fmt::format("cuda:{}", task.ordinal);
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

void measure_gpu(const CudaDriver& driver, const GpuTask& task, Session& session) {
  const std::string prefix = task.prefix();
  std::string name;
  std::string uuid;
  std::optional<emulated::PeakRates> peak;
  const std::size_t first = session.result().roofs.size();
  std::optional<GpuState> state;
  {
    const auto gpu = CudaGpu::open(driver, task.ordinal);
    if (!gpu) return session.lacks(prefix, gpu.error().message);
    name = (*gpu)->name();
    uuid = (*gpu)->uuid();
    peak = data_sheet(name);
    state.emplace(uuid);
    measure_transfers(**gpu, prefix, task.machine.free_memory_bytes / 8,
                      task.part_ns(kTransferShare), session);
    measure_device_memory(**gpu, prefix, peak ? peak->memory_bytes_per_s : 0,
                          task.part_ns(kMemoryShare), session);
    measure_launches(**gpu, prefix, task.part_ns(kLaunchShare), session);
  }
  measure_gpu_gemm(task, peak, session);
  Conditions conditions = state->conditions();
  conditions.emplace_back("gpu", name);
  conditions.emplace_back("uuid", uuid);
  conditions.emplace_back("cuda_version", std::int64_t{driver.cuda_version()});
  if (is_emulated({name, uuid})) conditions.emplace_back("modelled", true);
  for (const auto& [condition, value] : conditions) session.add_condition(first, condition, value);
}

}  // namespace

void measure_gpus(const Machine& machine, const GpuOptions& options, const std::string& python,
                  std::int64_t duration_ns, Session& session) {
  const auto driver = CudaDriver::open(options.driver);
  if (!driver) return session.lacks("gpu", driver.error().message);
  const int count = (*driver)->gpu_count();
  if (count == 0) return session.lacks("gpu", "CUDA's driver shows no GPU");
  for (int i = 0; i < count && !session.stopped(); ++i) {
    measure_gpu(**driver, {machine, python, i, duration_ns / count}, session);
  }
}

}  // namespace unstarve::limits
