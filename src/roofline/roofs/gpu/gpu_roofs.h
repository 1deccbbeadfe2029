#pragma once

#include <cstdint>
#include <string>

#include "roofline/roofs/machine.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

struct GpuOptions {
  std::string driver = "libcuda.so.1";
};

/// The roofs of every GPU that CUDA's driver shows, `gpu.N.`:
///   h2d, d2h . {pinned, pageable, write_combined} . SIZE   copies between host and GPU
///   both_ways . pinned . SIZE  to and from the GPU at once, the bytes of both
///   hbm . {copy, set}          its memory: read and written, written; l2.copy: what fits its cache
///   hbm . {read, triad}        the same by kernels of torch, in a process of its own
///   launch . {kernels, graph_nodes}    empty kernels a second, one by one and as graphs of 100
///   gemm . DTYPE               products of matrices, by torch in a process of its own
/// And what several reach together: `gpu.peers.N_to_M.SIZE` and `gpu.nccl...` (collective/).
/// Without a driver or a GPU they are absent, with the reason. Of an emulated GPU each has
/// `modelled` among its conditions.
/// `python`: whose torch multiplies matrices and adds up arrays; empty: none.
void measure_gpus(const Machine& machine, const GpuOptions& options, const std::string& python,
                  std::int64_t duration_ns, Session& session);

}  // namespace unstarve::roofline
