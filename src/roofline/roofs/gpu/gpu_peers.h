#pragma once

#include <cstdint>

#include "roofline/roofs/gpu/cuda_driver.h"
#include "roofline/roofs/gpu/gpu_state.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// The roofs `gpu.peers.N_to_M.SIZE`: copies from one GPU to another, of every pair and both ways,
/// one after the other. `state` is of all the driver's GPUs, in its order. Where two cannot reach
/// each other's memory, copies go through the host's, and `peer_access` is false.
void measure_peers(const CudaDriver& driver, const GpuGroupState& state, std::int64_t duration_ns,
                   Session& session);

}  // namespace unstarve::roofline
