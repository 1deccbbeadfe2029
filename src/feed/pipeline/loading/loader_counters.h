#pragma once

#include <atomic>
#include <cstdint>

#include "feed/pipeline/loading/sample_stages.h"

namespace unstarve::feed {

/// Sums over all loading threads. Relaxed: each is read on its own, and none guards other memory.
struct LoaderCounters {
  std::atomic<std::uint64_t> images{0};
  std::atomic<std::uint64_t> batches{0};
  std::atomic<std::int64_t> bytes_read{0};
  std::atomic<std::int64_t> read_ns{0};
  std::atomic<std::int64_t> decode_ns{0};
  std::atomic<std::int64_t> resize_ns{0};
  std::atomic<std::uint64_t> replaced{0};
  std::atomic<std::uint64_t> left_out{0};
  std::atomic<std::uint64_t> retries{0};
  std::atomic<std::uint64_t> hints{0};
  std::atomic<std::int64_t> load_ns{0};      // all that threads spent on samples
  std::atomic<std::int64_t> load_cpu_ns{0};  // of it on a CPU

  void add(const SampleCost& cost) {
    bytes_read.fetch_add(cost.bytes, std::memory_order_relaxed);
    read_ns.fetch_add(cost.read_ns, std::memory_order_relaxed);
    decode_ns.fetch_add(cost.decode_ns, std::memory_order_relaxed);
    resize_ns.fetch_add(cost.resize_ns, std::memory_order_relaxed);
  }
  static void increment(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace unstarve::feed
