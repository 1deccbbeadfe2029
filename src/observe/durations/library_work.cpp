#include "observe/durations/library_work.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace unstarve::observe {

namespace {

using emulated::ConvolutionPass;
using emulated::ConvolutionWork;
using emulated::MatmulWork;
using emulated::NumberType;
using Dims = std::vector<std::int64_t>;

NumberType number_type(std::string_view type) {
  if (type == "double") return NumberType::kF64;
  if (type.find("Half") != std::string_view::npos) return NumberType::kF16;
  if (type.find("BFloat16") != std::string_view::npos) return NumberType::kBf16;
  if (type.find("complex<double>") != std::string_view::npos) return NumberType::kC128;
  if (type.find("complex<float>") != std::string_view::npos) return NumberType::kC64;
  return NumberType::kF32;
}

NumberType type_at(const TracedOperation& operation, std::size_t argument) {
  return argument < operation.types.size() ? number_type(operation.types[argument])
                                           : NumberType::kF32;
}

/// [m, k] by [k, n], with as many of them before as there are products. PyTorch stores by rows and
/// cuBLAS by columns: it is asked for the transpose.
std::optional<MatmulWork> matmul_of(const Dims& a, const Dims& b, NumberType type) {
  const bool batched = a.size() == 3 && b.size() == 3;
  if (!batched && (a.size() != 2 || b.size() != 2)) return std::nullopt;
  const std::size_t at = batched ? 1 : 0;
  if (a[at + 1] != b[at]) return std::nullopt;
  MatmulWork work;
  work.batch = batched ? a[0] : 1;
  work.m = b[at + 1];
  work.k = a[at + 1];
  work.n = a[at];
  work.input = type;
  work.output = type;
  return work;
}

/// "[2, 2]" as numbers.
Dims list_in(std::string_view text) {
  Dims list;
  const char* at = text.data();
  const char* end = text.data() + text.size();
  while (at < end && list.size() < 8) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) list.push_back(number);
    at = error == std::errc() ? next : at + 1;
  }
  return list;
}

struct ConvolutionDims {
  const Dims& input;
  const Dims& weight;
  const Dims& output;
};

/// The stride is what the sizes of input and output imply, where the trace does not say it.
std::optional<ConvolutionWork> convolution_of(const ConvolutionDims& dims, const Dims& strides,
                                              NumberType type) {
  const std::size_t rank = dims.input.size();
  if (rank < 3 || rank > 5 || dims.weight.size() != rank || dims.output.size() != rank) {
    return std::nullopt;
  }
  ConvolutionWork work;
  work.batch = dims.input[0];
  work.input_channels = dims.input[1];
  work.output_channels = dims.output[1];
  if (dims.weight[1] <= 0 || dims.input[1] % dims.weight[1] != 0) return std::nullopt;
  work.groups = dims.input[1] / dims.weight[1];
  work.spatial = static_cast<int>(rank) - 2;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    work.input[axis] = dims.input[axis + 2];
    work.filter[axis] = dims.weight[axis + 2];
    work.output[axis] = dims.output[axis + 2];
    const double ratio = static_cast<double>(work.input[axis]) /
                         static_cast<double>(std::max<std::int64_t>(1, work.output[axis]));
    work.stride[axis] = std::max<std::int64_t>(1, std::llround(ratio));
    if (axis < strides.size() && strides[axis] > 0) work.stride[axis] = strides[axis];
  }
  work.type = type;
  return work;
}

/// The size of what comes out, where padding and stride are known.
std::optional<Dims> output_dims(const Dims& input, const Dims& weight, const Dims& padding,
                                const Dims& strides, const Dims& dilation) {
  if (input.size() < 3 || input.size() != weight.size()) return std::nullopt;
  Dims output = {input[0], weight[0]};
  for (std::size_t axis = 0; axis + 2 < input.size(); ++axis) {
    if (axis >= padding.size() || axis >= strides.size() || strides[axis] < 1) return std::nullopt;
    const std::int64_t apart = axis < dilation.size() ? dilation[axis] : 1;
    const std::int64_t reach = apart * (weight[axis + 2] - 1) + 1;
    output.push_back((input[axis + 2] + 2 * padding[axis] - reach) / strides[axis] + 1);
  }
  return output;
}

Dims value_list(const TracedOperation& operation, std::size_t argument) {
  return argument < operation.values.size() ? list_in(operation.values[argument]) : Dims();
}

std::optional<LibraryWork> forward(const TracedOperation& operation, const KnownOutputs& known) {
  const Dims& input = operation.dims[0];
  const Dims& weight = operation.dims[1];
  // cudnn_convolution(input, weight, padding, stride, dilation, groups, ...)
  const Dims strides = value_list(operation, 3);
  auto output =
      output_dims(input, weight, value_list(operation, 2), strides, value_list(operation, 4));
  if (const auto found = known.find({input, weight}); !output && found != known.end()) {
    output = found->second;
  }
  if (!output) return std::nullopt;
  const auto work = convolution_of({input, weight, *output}, strides, type_at(operation, 0));
  if (!work) return std::nullopt;
  return LibraryWork{std::nullopt, {*work}};
}

std::optional<LibraryWork> backward(const ConvolutionDims& dims, const Dims& strides,
                                    NumberType type) {
  const auto work = convolution_of(dims, strides, type);
  if (!work) return std::nullopt;
  LibraryWork result;
  for (const auto pass : {ConvolutionPass::kInputGradient, ConvolutionPass::kWeightGradient}) {
    result.convolutions.push_back(*work);
    result.convolutions.back().pass = pass;
  }
  return result;
}

}  // namespace

void note_output(const TracedOperation& operation, KnownOutputs& known) {
  const std::vector<Dims>& dims = operation.dims;
  if (dims.size() < 3) return;
  if (operation.name == "aten::convolution_backward") known[{dims[1], dims[2]}] = dims[0];
  if (operation.name == "aten::cudnn_convolution_backward") known[{dims[0], dims[2]}] = dims[1];
}

std::optional<LibraryWork> library_work(const TracedOperation& operation,
                                        const KnownOutputs& known) {
  const std::vector<Dims>& dims = operation.dims;
  const std::string& name = operation.name;
  if (dims.size() < 2) return std::nullopt;
  const auto product = [&](std::size_t a, std::size_t b) -> std::optional<LibraryWork> {
    if (b >= dims.size()) return std::nullopt;
    const auto work = matmul_of(dims[a], dims[b], type_at(operation, a));
    if (!work) return std::nullopt;
    return LibraryWork{work, {}};
  };
  if (name == "aten::mm" || name == "aten::bmm") return product(0, 1);
  if (name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::_addmm_activation") {
    return product(1, 2);
  }
  if (name == "aten::cudnn_convolution") return forward(operation, known);
  if (dims.size() < 3) return std::nullopt;
  if (name == "aten::cudnn_convolution_backward") {  // (input, gradient, weight, ...)
    return backward({dims[0], dims[2], dims[1]}, {}, type_at(operation, 0));
  }
  if (name == "aten::convolution_backward") {  // (gradient, input, weight, bias, stride, ...)
    return backward({dims[1], dims[2], dims[0]}, value_list(operation, 4), type_at(operation, 0));
  }
  return std::nullopt;
}

}  // namespace unstarve::observe
