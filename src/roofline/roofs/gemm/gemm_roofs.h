#pragma once

#include <cstdint>
#include <string>

#include "host/host_files.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// The roofs `gemm.cpu.{float32,bfloat16}`: products of matrices on all CPUs that may be used, by
/// the torch of `python`. Where torch is missing, or the CPU has no instructions for bfloat16, they
/// are absent and say so.
void measure_cpu_gemm(const Machine& machine, const host::HostFiles& files,
                      const std::string& python, std::int64_t duration_ns, Session& session);

}  // namespace unstarve::roofline
