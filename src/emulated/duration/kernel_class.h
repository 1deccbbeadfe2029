#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulated/duration/work.h"

namespace unstarve::emulated {

struct RecordedKernel;

/// How a launch tells how many items it works on.
enum class ItemCount : std::uint8_t {
  kThreads,    // so many for each thread of the grid
  kArguments,  // the product of integer arguments
  kRows,       // that product for each block of the grid's x
  kReduction,  // in the configuration of PyTorch's reduce_kernel
  kBlocks,     // so many for each block
  kAttention,  // by the sequence's length and heads
};

/// Attention computed by one kernel.
struct AttentionShape {
  double rows_per_block = 64;  // of queries; of keys in the backward pass of flash attention
  double head_dim = 64;
  bool backward = false;
  bool causal = false;
  bool cutlass = false;      // the memory-efficient kernels; else flash attention
  double flops_ratio = 0.5;  // of the tensor cores' achieved rate
};

/// What a kernel's name tells of its work per launch, the grid apart.
struct KernelClass {
  ItemCount count = ItemCount::kThreads;
  double items = 1;           // for each thread or block, where the arguments do not tell
  double bytes_per_item = 8;  // read and written for each, counted once
  double flops_per_item = 0;
  double memory_ratio = 1;  // of what the device's memory reaches, with this pattern of access
  std::array<std::int8_t, 3> arguments = {-1, -1, -1};  // which are the count; -1: none
  std::array<std::int8_t, 3> argument_bytes = {4, 4, 4};
  AttentionShape attention;
  const RecordedKernel* recorded = nullptr;  // in the model's table; nullptr: not there
};

/// How many items a launch works on.
double items_of(const KernelClass& kernel, const KernelWork& work);

/// Queries, keys and heads of a launch of an attention kernel, from its arguments where they tell.
struct AttentionSize {
  double queries = 0;
  double keys = 0;
  double head_dim = 0;
  double heads = 0;  // of all sequences of the batch
};
AttentionSize attention_size(const KernelClass& kernel, const KernelWork& work);

/// By the name alone, mangled or as a profiler shows it. Known: PyTorch's own kernels, by their
/// templates' arguments; of others the grid and the types of the parameters are all that is known.
KernelClass classify_kernel(std::string_view name);

}  // namespace unstarve::emulated
