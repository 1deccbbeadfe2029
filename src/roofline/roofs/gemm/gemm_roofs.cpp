#include "roofline/roofs/gemm/gemm_roofs.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "roofline/roofs/gemm/cpu_peak.h"
#include "roofline/roofs/gemm/torch_gemm.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

void add_roof(const Machine& machine, const host::HostFiles& files, const TorchGemm& gemm,
              Session& session) {
  const std::string name = "gemm.cpu." + gemm.dtype;
  if (!gemm.why_not.empty()) return session.lacks(name, gemm.why_not);
  Roof roof = make_roof(name, "flop/s", gemm.flop_per_s);
  roof.conditions.insert(roof.conditions.end(), {{"threads", std::int64_t{machine.threads}},
                                                 {"m", gemm.m},
                                                 {"n", gemm.n},
                                                 {"k", gemm.k},
                                                 {"library", gemm.library},
                                                 {"torch", gemm.torch_version}});
  const Reading<double> clock_hz = highest_clock_hz(files);
  const Reading<double> per_cycle = flops_per_cycle(machine, gemm.dtype);
  if (!clock_hz || !per_cycle) {
    roof.conditions.emplace_back(
        "spec_absent", std::string(clock_hz ? "the CPU is not known" : "the clock is not known"));
    return session.add(std::move(roof));
  }
  session.add_below(std::move(roof), *product_peak(machine, files, gemm.dtype),
                    fmt::format("{} cores x {:.3g} GHz x {:.0f} operations a cycle",
                                machine.threads, 1e-9 * *clock_hz, *per_cycle));
}

}  // namespace

void measure_cpu_gemm(const Machine& machine, const host::HostFiles& files,
                      const std::string& python, std::int64_t duration_ns, Session& session) {
  if (python.empty()) {
    return session.lacks("gemm.cpu", "no python3 on PATH: name the job's one by --python");
  }
  session.doing(fmt::format("products of matrices on the CPU, by the torch of {}", python));
  TorchGemmOptions options;
  options.python = python;
  options.dtypes = {"float32"};
  options.threads = machine.threads;
  options.duration_ns = duration_ns;
  if (has_bfloat16(machine)) {
    options.dtypes.emplace_back("bfloat16");
  } else {
    session.lacks("gemm.cpu.bfloat16", "this CPU has no instructions for it (AVX512-BF16, AMX)");
  }
  const auto gemms = run_torch_gemm(options, session);
  if (!gemms) return session.lacks("gemm.cpu", gemms.error().message);
  for (const TorchGemm& gemm : *gemms) add_roof(machine, files, gemm, session);
}

}  // namespace unstarve::roofline
