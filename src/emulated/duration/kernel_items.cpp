#include <algorithm>
#include <cstring>
#include <optional>

#include "emulated/duration/kernel_class.h"

namespace unstarve::emulated {

namespace {

// What a thread of PyTorch's reductions reads at once, and so adds up at the least.
constexpr double kReducedPerThread = 4;
constexpr double kItemsMax = 1e13;

std::optional<double> integer_argument(const KernelWork& work, int index, int bytes) {
  if (work.arguments == nullptr || index < 0) return std::nullopt;
  const void* address = work.arguments[index];
  if (address == nullptr) return std::nullopt;
  std::int64_t value = 0;
  if (bytes == 8) {
    std::memcpy(&value, address, 8);
  } else {
    std::int32_t narrow = 0;
    std::memcpy(&narrow, address, 4);
    value = narrow;
  }
  if (value < 0 || static_cast<double>(value) > kItemsMax) return std::nullopt;
  return static_cast<double>(value);
}

std::optional<double> product_of_arguments(const KernelClass& kernel, const KernelWork& work) {
  std::optional<double> product;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    if (kernel.arguments[i] < 0) continue;
    const auto value = integer_argument(work, kernel.arguments[i], kernel.argument_bytes[i]);
    if (!value) return std::nullopt;
    product = product.value_or(1) * *value;
  }
  return product;
}

/// Integers at the beginning of the first argument, a structure of at least that size.
template <std::size_t kCount>
bool copy_integers(const KernelWork& work, std::array<std::int32_t, kCount>& integers) {
  if (work.arguments == nullptr || work.arguments[0] == nullptr) return false;
  std::memcpy(integers.data(), work.arguments[0], sizeof(integers));
  return true;
}

/// PyTorch's ReduceConfig within its ReduceOp: element size, inputs for each output, outputs,
/// steps, blocks for each output, multipliers, and the block's shape, by which it is recognised.
std::optional<double> reduced_items(const KernelWork& work) {
  constexpr std::size_t kConfig = 14;
  std::array<std::int32_t, 32> integers{};
  if (!copy_integers(work, integers)) return std::nullopt;
  for (std::size_t at = 0; at + kConfig <= integers.size(); ++at) {
    const auto is = [&](std::size_t field, std::uint32_t value) {
      return static_cast<std::uint32_t>(integers[at + field]) == value;
    };
    const bool shape = is(5, work.grid[1]) && is(11, work.block[0]) && is(12, work.block[1]) &&
                       is(13, work.block[0] * work.block[1]);
    const bool sizes =
        integers[at] >= 1 && integers[at] <= 32 && integers[at + 1] >= 1 && integers[at + 2] >= 1;
    if (!shape || !sizes) continue;
    return static_cast<double>(integers[at + 1]) * integers[at + 2];
  }
  return std::nullopt;
}

}  // namespace

double items_of(const KernelClass& kernel, const KernelWork& work) {
  const double blocks = volume(work.grid);
  const double threads = blocks * volume(work.block);
  switch (kernel.count) {
    case ItemCount::kThreads: return threads * kernel.items;
    case ItemCount::kBlocks: return blocks * kernel.items;
    case ItemCount::kArguments:
      return product_of_arguments(kernel, work).value_or(threads * kernel.items);
    case ItemCount::kRows: {
      const auto row = product_of_arguments(kernel, work);
      return row ? *row * work.grid[0] : threads * kernel.items;
    }
    case ItemCount::kReduction: return reduced_items(work).value_or(threads * kReducedPerThread);
    case ItemCount::kAttention: return 0;
  }
  return threads * kernel.items;
}

namespace {

/// In the parameters of the memory-efficient kernels: head sizes of queries and values, queries,
/// keys, and then the keys once more (forward) or the heads (backward).
bool find_cutlass_size(const KernelClass& kernel, const KernelWork& work, AttentionSize& size) {
  std::array<std::int32_t, 60> integers{};
  if (!copy_integers(work, integers)) return false;
  const AttentionShape& shape = kernel.attention;
  for (std::size_t at = 0; at + 5 <= integers.size(); ++at) {
    const std::int32_t* found = &integers[at];
    if (found[0] < 1 || found[0] > 1024 || found[1] < 1 || found[1] > 1024) continue;
    if (found[2] < 1 || found[3] < 1) continue;
    const bool backward = static_cast<std::uint32_t>(found[4]) == work.grid[1];
    const double blocks = (found[2] + shape.rows_per_block - 1) / shape.rows_per_block;
    const bool forward = found[4] == found[3] && static_cast<std::uint32_t>(blocks) == work.grid[0];
    if (shape.backward ? !backward : !forward) continue;
    size.queries = found[2];
    size.keys = found[3];
    size.head_dim = found[0];
    return true;
  }
  return false;
}

/// In the parameters of flash attention: sequences, queries, keys, new keys, head size, and the
/// three sizes again, rounded up.
bool find_flash_size(const KernelWork& work, AttentionSize& size) {
  std::array<std::int32_t, 100> integers{};
  if (!copy_integers(work, integers)) return false;
  for (std::size_t at = 0; at + 8 <= integers.size(); ++at) {
    const std::int32_t* found = &integers[at];
    const auto rounds = [&](int rounded, int plain) {
      return found[plain] >= 1 && found[rounded] >= found[plain] &&
             found[rounded] < found[plain] + 256 && found[rounded] % 8 == 0;
    };
    if (!rounds(5, 1) || !rounds(6, 2) || !rounds(7, 4) || found[4] > 512) continue;
    size.queries = found[1];
    size.keys = found[2];
    size.head_dim = found[4];
    return true;
  }
  return false;
}

}  // namespace

AttentionSize attention_size(const KernelClass& kernel, const KernelWork& work) {
  const AttentionShape& shape = kernel.attention;
  AttentionSize size;
  size.head_dim = shape.head_dim;
  size.heads = static_cast<double>(work.grid[1]) * work.grid[2];
  size.queries = work.grid[0] * shape.rows_per_block;
  size.keys = size.queries;
  if (shape.cutlass) {
    find_cutlass_size(kernel, work, size);
  } else {
    find_flash_size(work, size);
  }
  return size;
}

}  // namespace unstarve::emulated
