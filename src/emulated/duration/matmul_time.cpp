#include "emulated/duration/matmul_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace unstarve::emulated {

namespace {

struct Tile {
  double m;
  double n;
  double ratio;  // of the rate that large tiles reach: smaller ones load more for each product
};

// The shapes that cuBLAS and CUTLASS come with. A tile of m x n loads (m + n) numbers for m n
// products; the ratios follow what CUTLASS's profiler publishes for them.
constexpr Tile kTiles[] = {{256, 128, 1},   {128, 256, 1},   {128, 128, 0.95}, {256, 64, 0.9},
                           {64, 256, 0.9},  {128, 64, 0.8},  {64, 128, 0.8},   {64, 64, 0.65},
                           {128, 32, 0.55}, {32, 128, 0.55}, {64, 32, 0.45},   {32, 64, 0.45},
                           {32, 32, 0.3}};
constexpr double kSplits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

// Before a tile's first product its numbers come from memory, after its last the result goes there.
constexpr double kTileFixedNs = 900;
// The least sum that is worth a block of its own.
constexpr double kSplitLeast = 128;
// Up to so many rows or columns a product reads its larger matrix once and computes little.
constexpr double kVectorMost = 8;
constexpr double kVectorMemoryRatio = 0.85;

double tiled_ns(const DeviceRates& rates, const TiledProduct& product, const Tile& tile,
                double split) {
  const double tiles =
      std::ceil(product.m / tile.m) * std::ceil(product.n / tile.n) * product.batch * split;
  const double rounds = std::ceil(tiles / rates.multiprocessors());
  const double rate = product.flops_per_s / rates.multiprocessors() * tile.ratio / 1e9;
  // While one block of a multiprocessor waits, another computes, where there is more than one.
  const double fixed = kTileFixedNs * (1 + (rounds - 1) * 0.35);
  const double compute = rounds * 2 * tile.m * tile.n * (product.k / split) / rate + fixed;
  const double results = product.m * product.n * product.batch;
  const double partial_bytes = split > 1 ? 2 * split * results * 4 : 0;
  const double memory = rates.memory_ns(product.bytes + partial_bytes);
  // Loads and products overlap, though not at the ends.
  const double shorter = std::min(compute, memory);
  return std::max(compute, memory) + 0.1 * shorter + (split > 1 ? rates.fixed_ns() : 0);
}

/// Rows that do not begin at multiples of 16 bytes take narrower loads, and more of them; those of
/// less than 4 bytes cannot bypass the registers.
double alignment_ratio(const MatmulWork& work) {
  const std::int64_t rows_a = work.transposed_a ? work.k : work.m;
  const std::int64_t rows_b = work.transposed_b ? work.n : work.k;
  const std::int64_t number = static_cast<std::int64_t>(bytes_of(work.input));
  double ratio = 1;
  for (const std::int64_t rows : {rows_a, rows_b, work.m}) {
    const std::int64_t bytes = rows * number;
    if (bytes % 16 == 0) continue;
    ratio = std::min(ratio, bytes % 8 == 0 ? 0.8 : bytes % 4 == 0 ? 0.55 : 0.4);
  }
  return ratio;
}

}  // namespace

double product_ns(const DeviceRates& rates, const TiledProduct& product) {
  double best = std::numeric_limits<double>::max();
  for (const Tile& tile : kTiles) {
    for (const double split : kSplits) {
      if (split > 1 && product.k / split < kSplitLeast) break;
      best = std::min(best, tiled_ns(rates, product, tile, split));
    }
  }
  return rates.fixed_ns() + best;
}

double matmul_ns(const DeviceRates& rates, const MatmulWork& work) {
  if (work.m <= 0 || work.n <= 0 || work.batch <= 0) return rates.fixed_ns();
  TiledProduct product;
  product.m = static_cast<double>(work.m);
  product.n = static_cast<double>(work.n);
  product.k = static_cast<double>(std::max<std::int64_t>(work.k, 1));
  product.batch = static_cast<double>(work.batch);
  const double inputs = (product.m + product.n) * product.k * bytes_of(work.input);
  const double results = product.m * product.n * bytes_of(work.output);
  product.bytes = product.batch * (inputs + results);
  const bool vector = std::min(product.m, product.n) <= kVectorMost;
  if (vector) {
    const double flops = 2 * product.m * product.n * product.k * product.batch;
    const double memory =
        rates.memory_ns(product.bytes, rates.resident_threads(), kVectorMemoryRatio);
    return rates.fixed_ns() + std::max(memory, flops / rates.plain_flops(work.input) * 1e9);
  }
  product.tensor_cores = work.input != NumberType::kF32 || work.tf32;
  product.flops_per_s = rates.matmul_flops(work.input, product.tensor_cores);
  // A complex product is four real ones.
  if (work.input == NumberType::kC64 || work.input == NumberType::kC128) product.flops_per_s /= 4;
  if (product.tensor_cores) product.flops_per_s *= alignment_ratio(work);
  return product_ns(rates, product);
}

}  // namespace unstarve::emulated
