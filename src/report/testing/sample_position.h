#pragma once

#include "roofline/position/position.h"

namespace unstarve::report::sample {

/// 20 ms a step with 1 TFLOP of bfloat16 under 250 TFLOP/s, 10 GB of operands.
inline roofline::Position placed(double step_s = 0.020) {
  roofline::StepWork work;
  work.step_s = step_s;
  work.h2d_bytes = 200e6;
  work.launches = 300.0;
  work.loader_cpu_s = 0.010;
  work.cores = 2.0;
  work.flops.device = "cuda";
  work.flops.by_dtype = {{"bfloat16", 1e12}};
  work.flops.operand_bytes = 10e9;
  work.flops.beyond_cache_bytes = 8e9;
  using roofline::RoofSource;
  roofline::KnownRoofs roofs;
  roofs.products = {{"bfloat16", {"gpu.0.gemm.bfloat16", 250e12, "flop/s", RoofSource::kMeasured}}};
  roofs.product_specs = {
      {"bfloat16", {"data sheet", 312e12, "flop/s", RoofSource::kSpecification}}};
  roofs.memory = roofline::UsedRoof{"gpu.0.hbm.copy", 2e12, "bytes/s", RoofSource::kMeasured};
  roofs.h2d = roofline::UsedRoof{"gpu.0.h2d.pinned", 25e9, "bytes/s", RoofSource::kMeasured};
  return *roofline::place(work, roofs, {.name = "NVIDIA <A100>"});
}

/// 1 s a step of a CPU with 60 GFLOP of float32 under 100 GFLOP/s, whose operands its caches hold.
inline roofline::Position placed_on_cpu() {
  roofline::StepWork work;
  work.step_s = 1.0;
  work.flops.device = "cpu";
  work.flops.by_dtype = {{"float32", 60e9}};
  work.flops.operand_bytes = 6e9;
  work.flops.beyond_cache_bytes = 0;
  work.flops.cache_bytes = 34e6;
  using roofline::RoofSource;
  roofline::KnownRoofs roofs;
  roofs.products = {{"float32", {"gemm.cpu.float32", 100e9, "flop/s", RoofSource::kMeasured}}};
  roofs.memory =
      roofline::UsedRoof{"memory.copy.2_threads", 2e10, "bytes/s", RoofSource::kMeasured};
  return *roofline::place(work, roofs, {.name = "AMD <EPYC>", .is_cpu = true});
}

}  // namespace unstarve::report::sample
