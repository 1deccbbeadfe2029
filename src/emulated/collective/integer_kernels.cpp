#include "emulated/collective/integer_kernels.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

namespace unstarve::emulated {
namespace {

using Bytes = IntegerKernel::Bytes;
using Integers = std::vector<std::int64_t>;
using IsOnDevice = std::function<bool(std::uintptr_t)>;

constexpr std::size_t kIntegerBytes = sizeof(std::int64_t);
constexpr std::uint32_t kMostNumbers = 4096;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What lies `offset` bytes behind the beginning of an argument.
template <class Number>
Number read(const void* argument, std::size_t offset = 0) {
  Number number;
  std::memcpy(&number, static_cast<const char*>(argument) + offset, sizeof number);
  return number;
}

Integers integers(const Bytes& bytes) {
  Integers numbers(bytes.size() / kIntegerBytes);
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * kIntegerBytes);
  return numbers;
}

template <class Number>
Bytes as_bytes(const std::vector<Number>& numbers) {
  Bytes bytes(numbers.size() * sizeof(Number));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

std::int64_t added(std::int64_t a, std::int64_t b, std::int64_t times) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                   static_cast<std::uint64_t>(b) *
                                       static_cast<std::uint64_t>(times));
}

Bytes largest(const std::vector<Bytes>& inputs) {
  const Integers numbers = integers(inputs[0]);
  return as_bytes(Integers{*std::max_element(numbers.begin(), numbers.end())});
}

Bytes sum(const std::vector<Bytes>& inputs) {
  const Integers numbers = integers(inputs[0]);
  const auto add = [](std::int64_t a, std::int64_t b) { return added(a, b, 1); };
  return as_bytes(Integers{std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}, add)});
}

/// Reduces all numbers of a tensor to one: `at::native::reduce_kernel` with its one argument, a
/// ReduceOp. That has the operation (8 bytes with the padding), a first value, the configuration
/// (16 integers, the first: element_size, num_inputs, num_outputs), two calculators of offsets of
/// up to 25 dimensions (dims, a divider of three words for each, one or two strides for each), and
/// then the addresses of the source and of the target.
std::optional<IntegerKernel> read_reduction(const KernelWork& work, const IsOnDevice& on_device) {
  constexpr std::size_t kConfiguration = 16;
  constexpr std::size_t kDimensions = kConfiguration + 16 * 4;
  constexpr std::size_t kStride = kDimensions + 4 + 25 * 12;
  constexpr std::size_t kSource =
      992;  // kStride + 25 * 4, and 4 + 25 * 12 + 25 * 8, to eight bytes
  const void* const argument = work.arguments[0];
  const auto element_bytes = read<std::uint32_t>(argument, kConfiguration);
  const auto count = read<std::uint32_t>(argument, kConfiguration + 4);
  const auto outputs = read<std::uint32_t>(argument, kConfiguration + 8);
  const bool contiguous = count == 1 || (read<std::uint32_t>(argument, kDimensions) == 1 &&
                                         read<std::uint32_t>(argument, kStride) == kIntegerBytes);
  if (element_bytes != kIntegerBytes || outputs != 1 || count == 0 || count > kMostNumbers ||
      !contiguous) {
    return std::nullopt;
  }
  const auto source = read<std::uintptr_t>(argument, kSource);
  const auto target = read<std::uintptr_t>(argument, kSource + sizeof source);
  if (!on_device(source) || !on_device(target)) return std::nullopt;
  return IntegerKernel{.inputs = {{source, count * kIntegerBytes}},
                       .output = {target, kIntegerBytes},
                       .compute = contains(work.name, "MaxNanFunctorIl") ? largest : sum};
}

/// The number that stands in `text` behind `before`; 0: none.
std::size_t number_behind(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  std::size_t number = 0;
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = text.substr(at + before.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// Of what a concatenation moves: a size, or in older versions a type of its own.
std::size_t element_bytes_of(std::string_view name) {
  if (contains(name, "contigIlj") || contains(name, "CopyIlj")) return sizeof(std::int64_t);
  if (contains(name, "contigIhj") || contains(name, "CopyIhj")) return 1;
  return number_behind(name, "OpaqueTypeILj");
}

/// One behind the other: torch.cat. Its arguments: the target's address, and for up to 128 inputs
/// their addresses, offsets, sizes in the dimension and numbers of elements; grid.y of them are
/// used.
std::optional<IntegerKernel> read_concatenation(const KernelWork& work) {
  constexpr std::size_t kSlots = 128;
  const std::size_t element_bytes = element_bytes_of(work.name);
  const std::size_t count = work.grid[1];
  if (element_bytes == 0 || element_bytes > 16 || count == 0 || count > kSlots) {
    return std::nullopt;
  }
  const void* const inputs = work.arguments[1];
  IntegerKernel kernel;
  kernel.output.address = read<std::uintptr_t>(work.arguments[0]);
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::size_t kOffsets = kSlots * sizeof(std::uintptr_t);
    constexpr std::size_t kElements = kOffsets + 2 * kSlots * sizeof(std::uint32_t);
    const auto address = read<std::uintptr_t>(inputs, i * sizeof(std::uintptr_t));
    const auto offset = read<std::uint32_t>(inputs, kOffsets + i * sizeof(std::uint32_t));
    const auto elements = read<std::uint32_t>(inputs, kElements + i * sizeof(std::uint32_t));
    if (offset * element_bytes != kernel.output.bytes) return std::nullopt;
    kernel.inputs.push_back({address, elements * element_bytes});
    kernel.output.bytes += elements * element_bytes;
  }
  kernel.compute = [](const std::vector<Bytes>& parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  return kernel;
}

/// Element by element: a count, the operation's own data, and the addresses of the target and of
/// the sources.
std::optional<IntegerKernel> read_elementwise(const KernelWork& work, std::size_t sources,
                                              std::size_t result_bytes) {
  const auto count = read<std::int32_t>(work.arguments[0]);
  if (count <= 0 || count > static_cast<int>(kMostNumbers)) return std::nullopt;
  const auto numbers = static_cast<std::size_t>(count);
  IntegerKernel kernel;
  kernel.output = {read<std::uintptr_t>(work.arguments[2]), numbers * result_bytes};
  for (std::size_t i = 1; i <= sources; ++i) {
    const auto address = read<std::uintptr_t>(work.arguments[2], i * sizeof(std::uintptr_t));
    kernel.inputs.push_back({address, numbers * kIntegerBytes});
  }
  return kernel;
}

/// a + times * b
std::optional<IntegerKernel> read_sum_of_two(const KernelWork& work) {
  std::optional<IntegerKernel> kernel = read_elementwise(work, 2, kIntegerBytes);
  if (!kernel) return std::nullopt;
  const auto times = read<std::int64_t>(work.arguments[1]);
  kernel->compute = [times](const std::vector<Bytes>& inputs) {
    Integers a = integers(inputs[0]);
    const Integers b = integers(inputs[1]);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = added(a[i], b[i], times);
    return as_bytes(a);
  };
  return kernel;
}

/// a + times * number
std::optional<IntegerKernel> read_sum_with_number(const KernelWork& work) {
  std::optional<IntegerKernel> kernel = read_elementwise(work, 1, kIntegerBytes);
  if (!kernel) return std::nullopt;
  const auto number = read<std::int64_t>(work.arguments[1]);
  const auto times = read<std::int64_t>(work.arguments[1], kIntegerBytes);
  kernel->compute = [number, times](const std::vector<Bytes>& inputs) {
    Integers a = integers(inputs[0]);
    for (std::int64_t& each : a) each = added(each, number, times);
    return as_bytes(a);
  };
  return kernel;
}

/// a > b and its kin: torch's OpType says which.
std::optional<IntegerKernel> read_comparison(const KernelWork& work) {
  enum class Is : std::int32_t { kNotLess, kGreater, kNotGreater, kLess };
  std::optional<IntegerKernel> kernel = read_elementwise(work, 2, 1);
  if (!kernel) return std::nullopt;
  const auto is = read<Is>(work.arguments[1]);
  kernel->compute = [is](const std::vector<Bytes>& inputs) {
    const Integers a = integers(inputs[0]);
    const Integers b = integers(inputs[1]);
    Bytes results(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool greater = is == Is::kNotLess || is == Is::kGreater ? a[i] > b[i] : a[i] < b[i];
      const bool equal_too = is == Is::kNotLess || is == Is::kNotGreater;
      results[i] = greater || (equal_too && a[i] == b[i]) ? 1 : 0;
    }
    return results;
  };
  return kernel;
}

class IntegerLanding final : public Landing {
 public:
  IntegerLanding(IntegerKernel kernel, std::vector<std::vector<KeptPiece>> inputs, LateBytes result)
      : kernel_(std::move(kernel)), inputs_(std::move(inputs)), result_(std::move(result)) {}

  void land() override {
    std::vector<Bytes> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(bytes_of(inputs_[i], kernel_.inputs[i].bytes));
    }
    const Bytes computed = kernel_.compute(inputs);
    std::copy_n(computed.begin(), std::min(computed.size(), result_->size()), result_->begin());
  }

 private:
  const IntegerKernel kernel_;
  const std::vector<std::vector<KeptPiece>> inputs_;
  const LateBytes result_;
};

}  // namespace

std::optional<IntegerKernel> read_integer_kernel(const KernelWork& work,
                                                 const IsOnDevice& is_on_device) {
  if (work.arguments == nullptr || !contains(work.name, "2at6native")) return std::nullopt;
  if (contains(work.name, "13reduce_kernelILi512ELi1ENS0_8ReduceOpIlNS0_14func_wrapper_tIl")) {
    const bool known =
        contains(work.name, "MaxNanFunctorIl") || contains(work.name, "sum_functorIlll");
    return known ? read_reduction(work, is_on_device) : std::nullopt;
  }
  // Of one dimension, contiguous.
  if (contains(work.name, "CatArrayBatchedCopy") && contains(work.name, "jLi1ELi128ELi1E") &&
      !contains(work.name, "_vectorized")) {
    return read_concatenation(work);
  }
  // Numbers that do not lie at multiples of 16 bytes are read one by one.
  if (!contains(work.name, "29vectorized_elementwise_kernelILi") &&
      !contains(work.name, "27unrolled_elementwise_kernelI")) {
    return std::nullopt;
  }
  if (contains(work.name, "12LoadWithCast")) return std::nullopt;
  if (contains(work.name, "15CUDAFunctor_addIlEE")) return read_sum_of_two(work);
  if (contains(work.name, "21CUDAFunctorOnSelf_addIlEE")) return read_sum_with_number(work);
  if (contains(work.name, "CompareFunctorIlEESt5arrayIPcLm3E") ||
      contains(work.name, "CompareFunctorIlEENS_6detail5ArrayIPcLi3E")) {
    return read_comparison(work);
  }
  return std::nullopt;
}

std::vector<std::uintptr_t> written_by(const KernelWork& work) {
  // Of arguments that hold addresses somewhere, so many words are looked through.
  constexpr std::size_t kWordsOfReduction = 136;
  constexpr std::size_t kWordsOfLambda = 80;
  if (work.arguments == nullptr || !contains(work.name, "_ZN2at6native")) return {};
  std::vector<std::uintptr_t> addresses;
  const auto look_at = [&](const void* argument, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) {
      addresses.push_back(read<std::uintptr_t>(argument, i * sizeof(std::uintptr_t)));
    }
  };
  if (contains(work.name, "13reduce_kernelILi")) {
    look_at(work.arguments[0], kWordsOfReduction);
  } else if (contains(work.name, "vectorized_elementwise_kernelI") ||
             contains(work.name, "unrolled_elementwise_kernel")) {
    look_at(work.arguments[2], 1);
  } else if (contains(work.name, "18elementwise_kernelILi")) {
    look_at(work.arguments[1], kWordsOfLambda);
  } else {
    look_at(work.arguments[0], 1);
  }
  return addresses;
}

std::shared_ptr<Landing> make_landing(IntegerKernel kernel,
                                      std::vector<std::vector<KeptPiece>> inputs,
                                      LateBytes result) {
  return std::make_shared<IntegerLanding>(std::move(kernel), std::move(inputs), std::move(result));
}

}  // namespace unstarve::emulated
