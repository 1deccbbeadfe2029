#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "roofline/roofs/memory/bandwidth.h"
#include "roofline/roofs/memory/stream_kernels.h"

namespace unstarve::roofline {
namespace {

constexpr std::size_t kCount = 128;

/// Arrays as the kernels want them, with other numbers in each place.
struct Arrays {
  Arrays() : memory(static_cast<double*>(std::aligned_alloc(64, 3 * kCount * sizeof(double)))) {
    for (std::size_t i = 0; i < 3 * kCount; ++i) memory.get()[i] = static_cast<double>(i * i % 97);
  }
  StreamArrays all() const {
    return {memory.get(), memory.get() + kCount, memory.get() + 2 * kCount, kCount};
  }
  struct Freed {
    void operator()(double* start) const { std::free(start); }
  };
  std::unique_ptr<double, Freed> memory;
};

TEST(StreamKernels, DoWhatStreamDefines) {
  for (const Stores stores : {Stores::kPlain, Stores::kPlainNarrow, Stores::kNonTemporal}) {
    for (int kernel = 0; kernel < kStreamKernels; ++kernel) {
      const Arrays before;
      const Arrays after;
      const auto [a, b, c, count] = before.all();
      const StreamArrays now = after.all();
      run_stream_kernel(static_cast<StreamKernel>(kernel), stores, now);
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(now.a[i], kernel == 3 ? b[i] + 3 * c[i] : a[i]);
        EXPECT_EQ(now.b[i], kernel == 1 ? 3 * c[i] : b[i]);
        EXPECT_EQ(now.c[i], kernel == 0 ? a[i] : kernel == 2 ? a[i] + b[i] : c[i]);
      }
    }
  }
}

TEST(StreamKernels, BytesAreCountedAsStreamDoes) {
  EXPECT_EQ(bytes_per_element(StreamKernel::kCopy), 16);
  EXPECT_EQ(bytes_per_element(StreamKernel::kScale), 16);
  EXPECT_EQ(bytes_per_element(StreamKernel::kAdd), 24);
  EXPECT_EQ(bytes_per_element(StreamKernel::kTriad), 24);
}

TEST(StreamSize, IsFourTimesTheCachesIfMemoryAllows) {
  constexpr std::uint64_t kMebibyte = 1U << 20;
  const StreamSize ample = stream_size(32 * kMebibyte, 16'384 * kMebibyte);
  EXPECT_EQ(ample.array_bytes, 128 * kMebibyte);
  EXPECT_TRUE(ample.large_enough);
  const StreamSize small_caches = stream_size(kMebibyte, 16'384 * kMebibyte);
  EXPECT_EQ(small_caches.array_bytes, 64 * kMebibyte);
  const StreamSize short_of_memory = stream_size(512 * kMebibyte, 1'200 * kMebibyte);
  EXPECT_EQ(short_of_memory.array_bytes, 200 * kMebibyte);
  EXPECT_FALSE(short_of_memory.large_enough);
}

TEST(Memory, RoofsOfOneThreadToAll) {
  SteadyClock clock;
  Session session(clock, {});
  Machine machine;
  machine.threads = 2;
  machine.caches_bytes = 1U << 20;
  machine.free_memory_bytes = 24U << 20;  // arrays of 4 MiB
  measure_memory(machine, 1'000'000, session);
  ASSERT_EQ(session.result().roofs.size(), 8U);
  EXPECT_EQ(session.result().roofs[0].name, "memory.copy.1_threads");
  EXPECT_EQ(session.result().roofs[7].name, "memory.triad.2_threads");
  for (const Roof& roof : session.result().roofs) EXPECT_GT(roof.value, 1e8) << roof.name;
}

}  // namespace
}  // namespace unstarve::roofline
