#include "emulated/collective/ring_time.h"

#include <cmath>

namespace unstarve::emulated {
namespace {

std::int64_t transfer_ns(double bytes, const Link& link) {
  if (link.bytes_per_s <= 0) return 0;
  return static_cast<std::int64_t>(std::ceil(bytes / link.bytes_per_s * 1e9));
}

/// How often each byte of the buffer goes over the busiest link.
double passes(Collective kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case Collective::kAllReduce: return 2 * others;
    case Collective::kReduceScatter:
    case Collective::kAllGather:
    case Collective::kAllToAll:
    case Collective::kGather:
    case Collective::kScatter: return others;
    case Collective::kBroadcast:
    case Collective::kReduce: return 1;
  }
  return 1;
}

}  // namespace

std::int64_t ring_time_ns(Collective kind, int ranks, std::int64_t bytes, const Link& link) {
  if (ranks < 2) return 0;
  const std::int64_t steps = kind == Collective::kAllReduce ? 2 * (ranks - 1) : ranks - 1;
  return transfer_ns(passes(kind, ranks) * static_cast<double>(bytes), link) +
         steps * link.latency_ns;
}

std::int64_t send_time_ns(std::int64_t bytes, const Link& link) {
  return transfer_ns(static_cast<double>(bytes), link) + link.latency_ns;
}

}  // namespace unstarve::emulated
