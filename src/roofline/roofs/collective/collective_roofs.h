#pragma once

#include <cstdint>
#include <string>

#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// Bytes a second over a GPU's links, as NCCL's tests define "bus bandwidth" so that it can be held
/// against the links whatever the number of GPUs: `bytes` of the larger buffer in a second, times
/// 2 (n-1)/n for an all-reduce, (n-1)/n for all-gather and reduce-scatter, 1 for send_recv, where
/// each GPU sends to the next one and receives from the one before it. 0: no such kind.
double bus_bytes_per_s(const std::string& kind, std::int64_t bytes, int gpus, double seconds);

/// The roofs `gpu.nccl.{all_reduce,all_gather,reduce_scatter,send_recv}.SIZE` of all `gpus`
/// together, and `gpu.nccl.all_reduce.latency`, the seconds of one of 8 bytes; by the torch of
/// `python`. What is missing is absent with the reason.
void measure_collectives(int gpus, const std::string& python, std::int64_t duration_ns,
                         Session& session);

}  // namespace unstarve::roofline
