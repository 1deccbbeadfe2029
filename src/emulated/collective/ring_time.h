#pragma once

#include <cstddef>
#include <cstdint>

/// How long GPUs of one machine take to exchange data.
namespace unstarve::emulated {

enum class Collective : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
};
inline constexpr std::size_t kCollectives = 8;

/// What joins the GPUs, as a profile says it.
struct Link {
  double bytes_per_s = 0;       // out of one GPU; as much goes in at the same time
  std::int64_t latency_ns = 0;  // of one step
};

/// The time that a collective of `ranks` GPUs takes over a ring without contention. `bytes` is the
/// size of the larger of a rank's buffers: what is reduced or broadcast, or all that is gathered.
///
/// Each byte of an all-reduce goes once round the ring to be summed and once to be handed out:
/// 2 (n-1)/n bytes over each link, in 2 (n-1) steps. The others are its halves: (n-1)/n bytes in
/// n-1 steps to scatter or to gather; all bytes, in pieces that follow one another, to broadcast or
/// to reduce.
std::int64_t ring_time_ns(Collective kind, int ranks, std::int64_t bytes, const Link& link);

/// One GPU sends to another.
std::int64_t send_time_ns(std::int64_t bytes, const Link& link);

}  // namespace unstarve::emulated
