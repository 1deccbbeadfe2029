#include "emulated/duration/kernel_class.h"

#include <algorithm>
#include <cstdlib>

#include "emulated/duration/kernel_name.h"

namespace unstarve::emulated {

namespace {

// Parts of the achieved memory rate that patterns of access reach: rows that a block reads twice or
// keeps in registers; strides and index arithmetic; scattered writes, which touch whole sectors.
constexpr double kRowsRatio = 0.85;
constexpr double kStridedRatio = 0.7;
constexpr double kScatteredRatio = 0.35;
// What several blocks read at about the same time comes from the second-level cache.
constexpr double kCachedRatio = 1.5;

double number_in(std::string_view text) { return std::atof(std::string(text).c_str()); }

/// What lies between the brackets that follow the first `before` in `text`.
std::string_view inside(std::string_view text, std::string_view before) {
  const std::size_t found = text.find(before);
  if (found == std::string_view::npos) return {};
  const std::size_t begin = found + before.size();
  int depth = 1;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (depth == 0) return text.substr(begin, at - begin);
  }
  return {};
}

/// The parameters of the lambda that `functor` ends with: "{lambda(float, bool)#1}".
std::vector<std::string_view> lambda_parameters(std::string_view functor) {
  const std::size_t lambda = functor.rfind("{lambda(");
  if (lambda == std::string_view::npos) return {};
  const std::size_t end = functor.find(")#", lambda);
  if (end == std::string_view::npos) return {};
  return split_list(functor.substr(lambda + 8, end - lambda - 8));
}

double sum_of_types(const std::vector<std::string_view>& types, double otherwise) {
  double sum = 0;
  for (const std::string_view type : types) sum += bytes_of_type(type).value_or(otherwise);
  return sum;
}

/// Bytes that a functor of PyTorch's loops reads and writes for each element; `operands` counts its
/// inputs and outputs, 0: not known.
double functor_bytes(std::string_view functor, double operands) {
  const double first = bytes_of_first_type(functor).value_or(4);
  const std::string_view converted = inside(functor, "converting_copy_kernel_cuda<");
  if (!converted.empty()) return sum_of_types(split_list(converted), first);
  const std::size_t args_at = functor.find("naryFunctor<");
  const bool binary =
      args_at != std::string_view::npos && args_at >= 2 && functor.substr(args_at - 2, 2) == "Bi";
  const std::vector<std::string_view> types = split_list(inside(functor, "naryFunctor<"));
  if (types.size() >= 3 && (operands == 0 || operands == (binary ? 3 : 2))) {
    return bytes_of_type(types[0]).value_or(first) + bytes_of_type(types[2]).value_or(first) +
           (binary ? bytes_of_type(types[1]).value_or(first) : 0);
  }
  if (operands == 0 && functor.find("FunctorOnSelf") != std::string_view::npos) operands = 2;
  if (operands == 0 && functor.find("CUDAFunctor_") != std::string_view::npos) operands = 3;
  if (operands == 0 && functor.find("FillFunctor") != std::string_view::npos) operands = 1;
  const std::vector<std::string_view> lambda = lambda_parameters(functor);
  if (!lambda.empty() && (operands == 0 || operands == static_cast<double>(lambda.size()) + 1)) {
    // What comes out is as wide as the last operand: where(bool, x, y).
    return sum_of_types(lambda, first) + bytes_of_type(lambda.back()).value_or(first);
  }
  return first * (operands == 0 ? 2 : operands);
}

void use_argument(KernelClass& kernel, const KernelName& name, std::size_t slot,
                  std::size_t parameter) {
  const std::vector<std::string_view> parameters = name.parameters();
  if (parameter >= parameters.size()) return;
  const double bytes = bytes_of_type(parameters[parameter]).value_or(0);
  if (bytes != 4 && bytes != 8) return;
  if (parameters[parameter] == "float" || parameters[parameter] == "double") return;
  kernel.arguments[slot] = static_cast<std::int8_t>(parameter);
  kernel.argument_bytes[slot] = static_cast<std::int8_t>(bytes);
}

/// at::native::vectorized_elementwise_kernel<4, Functor, std::array<char*, 3ul> >(int, ...), and
/// the kernels that do the same where tensors are not contiguous.
KernelClass elementwise(const KernelName& name) {
  KernelClass kernel;
  kernel.count = ItemCount::kArguments;
  kernel.items = 4;
  use_argument(kernel, name, 0, 0);
  std::string_view functor;
  double operands = 0;
  for (const std::string_view argument : name.template_arguments()) {
    const std::size_t pointers = argument.find("rray<char*, ");
    if (pointers != std::string_view::npos && argument.size() < 60) {
      operands = number_in(argument.substr(pointers + 12));
    } else if (functor.empty() && argument.size() > 3) {
      functor = argument;
    }
  }
  // elementwise_kernel<128, 2, ...>: threads of a block, items of a thread.
  const std::vector<std::string_view> arguments = name.template_arguments();
  if (name.base().starts_with("elementwise_kernel") && arguments.size() > 1) {
    const double items = number_in(arguments[1]);
    if (items >= 1 && items <= 64) kernel.items = items;
  }
  const bool strided = name.base() != "vectorized_elementwise_kernel" && operands == 0;
  for (const char* loop : {"gpu_kernel_impl_nocast<", "gpu_kernel_impl<", "gpu_index_kernel<"}) {
    if (const std::string_view within = inside(functor, loop); !within.empty()) functor = within;
  }
  kernel.bytes_per_item = functor_bytes(functor, operands);
  if (strided) kernel.memory_ratio = kStridedRatio;
  // One of two operands is narrower, or the cast would not be needed.
  if (name.text().find("LoadWithCast") != std::string::npos) kernel.bytes_per_item *= 0.75;
  return kernel;
}

KernelClass indexed(const KernelName& name) {
  KernelClass kernel = elementwise(name);
  kernel.bytes_per_item = 2 * bytes_of_first_type(name.text()).value_or(4) + 8;
  if (const std::size_t opaque = name.text().find("OpaqueType<"); opaque != std::string::npos) {
    kernel.bytes_per_item = 2 * number_in(std::string_view(name.text()).substr(opaque + 11, 2)) + 8;
  }
  kernel.memory_ratio = kScatteredRatio;
  return kernel;
}

KernelClass reduction(const KernelName& name) {
  KernelClass kernel;
  kernel.count = ItemCount::kReduction;
  const std::string_view operation = inside(name.text(), "ReduceOp<");
  kernel.bytes_per_item = bytes_of_first_type(operation).value_or(4);
  kernel.memory_ratio = kRowsRatio;
  return kernel;
}

/// multi_tensor_apply_kernel<TensorListMetadata<3>, Functor<float, 3, 2, 2>, ...>: chunks of 65,536
/// numbers of a list of tensors, one a block.
KernelClass multi_tensor(const KernelName& name) {
  constexpr double kChunk = 65536;
  KernelClass kernel;
  kernel.count = ItemCount::kBlocks;
  kernel.items = kChunk;
  const std::vector<std::string_view> arguments = name.template_arguments();
  const std::string_view functor = arguments.size() > 1 ? arguments[1] : std::string_view();
  const double depth = arguments.empty()
                           ? 2
                           : number_in(inside(arguments[0], "Metadata<").empty()
                                           ? std::string_view("2")
                                           : split_list(inside(arguments[0], "Metadata<")).back());
  const double bytes = bytes_of_first_type(functor).value_or(4);
  const std::size_t open = functor.find("Functor<");
  double accesses = depth + 1;
  if (open != std::string_view::npos) {
    const std::vector<std::string_view> parts = split_list(inside(functor, "Functor<"));
    if (parts.size() >= 4) accesses = number_in(parts[2]) + 1;  // so many read, one written
  }
  if (functor.find("Fused") != std::string_view::npos)
    accesses = 2 * depth - 1;  // all but gradients
  if (functor.find("Norm") != std::string_view::npos) accesses = 1;
  kernel.bytes_per_item = bytes * std::max(1.0, accesses);
  return kernel;
}

/// Rows of a matrix, one a block, whose length is an argument.
KernelClass rows(const KernelName& name, std::size_t length, double accesses) {
  KernelClass kernel;
  kernel.count = ItemCount::kRows;
  kernel.items = 8;
  kernel.memory_ratio = kRowsRatio;
  kernel.bytes_per_item = accesses * bytes_of_first_type(name.text()).value_or(4);
  use_argument(kernel, name, 0, length);
  return kernel;
}

/// As many items as one argument says, or the product of two.
KernelClass counted(const KernelName& name, double bytes, std::size_t first, int second = -1) {
  KernelClass kernel;
  kernel.count = ItemCount::kArguments;
  kernel.bytes_per_item = bytes;
  use_argument(kernel, name, 0, first);
  if (second >= 0) use_argument(kernel, name, 1, static_cast<std::size_t>(second));
  return kernel;
}

/// The numbers in the template arguments after `before`: head sizes and blocks of attention.
std::vector<double> numbers_after(std::string_view text, std::string_view before) {
  std::vector<double> numbers;
  for (const std::string_view item : split_list(inside(text, before))) {
    if (!item.empty() && item[0] >= '0' && item[0] <= '9') numbers.push_back(number_in(item));
  }
  return numbers;
}

KernelClass cutlass_attention(const KernelName& name, bool backward) {
  KernelClass kernel;
  kernel.count = ItemCount::kAttention;
  kernel.attention.cutlass = true;
  kernel.attention.backward = backward;
  // Published comparisons with flash attention: about half its rate forward, less backward.
  kernel.attention.flops_ratio = backward ? 0.32 : 0.42;
  const std::vector<double> sizes =
      numbers_after(name.text(), backward ? "AttentionBackwardKernel<" : "AttentionKernel<");
  if (sizes.size() >= 3) {
    kernel.attention.rows_per_block = std::max(1.0, sizes[0]);
    kernel.attention.head_dim = std::min(sizes[2], 256.0);
  }
  return kernel;
}

KernelClass flash_attention(const KernelName& name, bool backward) {
  KernelClass kernel;
  kernel.count = ItemCount::kAttention;
  kernel.attention.backward = backward;
  // FlashAttention-2's paper on A100: some 190 to 220 of 312 TFLOP/s forward, 150 to 190 backward.
  kernel.attention.flops_ratio = backward ? 0.62 : 0.72;
  const std::vector<double> sizes = numbers_after(name.text(), "kernel_traits<");
  if (sizes.size() >= 3) {
    kernel.attention.head_dim = sizes[0];
    kernel.attention.rows_per_block = std::max(1.0, backward ? sizes[2] : sizes[1]);
  }
  const std::vector<std::string_view> arguments = name.template_arguments();
  kernel.attention.causal = arguments.size() > 2 && arguments[2] == "true";
  return kernel;
}

/// Of a kernel that nobody knows: each thread reads or writes one value behind each pointer.
KernelClass by_parameters(const KernelName& name) {
  KernelClass kernel;
  double bytes = 0;
  for (const std::string_view parameter : name.parameters()) {
    if (const auto type = pointed_type(parameter)) bytes += bytes_of_type(*type).value_or(4);
  }
  if (bytes > 0) kernel.bytes_per_item = std::min(bytes, 64.0);
  return kernel;
}

/// unstarve's own (kernels/pixels/convert_cuda.cu): a thread makes a pixel's three bytes three
/// values of the template's type.
KernelClass convert(const KernelName& name) {
  if (name.text().find("unstarve::kernels") == std::string::npos) return by_parameters(name);
  const std::vector<std::string_view> arguments = name.template_arguments();
  const double bytes = arguments.empty() ? 4 : bytes_of_type(arguments[0]).value_or(4);
  KernelClass kernel;
  kernel.bytes_per_item = 3 * (1 + bytes);
  return kernel;
}

KernelClass triton(const KernelName& name) {
  KernelClass kernel;
  // Inductor's pointwise kernels take 4 to 8 elements a thread, of 2 or 3 tensors; its reductions
  // loop over rows of some 1,000.
  const bool pointwise = name.text().find("_poi_") != std::string::npos;
  kernel.items = pointwise ? 4 : 8;
  kernel.bytes_per_item = pointwise ? 10 : 6;
  return kernel;
}

/// conv_depthwise2d_forward_kernel<3, float, int>: a filter of 3 x 3, whose loads and addresses are
/// what it computes; 0: of any size.
KernelClass depthwise(const KernelName& name) {
  const std::vector<std::string_view> arguments = name.template_arguments();
  const double side = arguments.empty() ? 0 : number_in(arguments[0]);
  const double bytes = bytes_of_first_type(name.text()).value_or(4);
  KernelClass kernel = counted(name, 2.5 * bytes, 5);
  kernel.memory_ratio = kStridedRatio;
  const double taps = side >= 1 && side <= 11 ? side * side : 9;
  kernel.flops_per_item = 20 * taps;
  return kernel;
}

/// A block for each channel and each of the filter's taps goes over all pixels of the batch: both
/// tensors are read once for each tap, mostly from the second-level cache.
KernelClass depthwise_weights(const KernelName& name) {
  KernelClass kernel;
  kernel.count = ItemCount::kRows;
  kernel.items = 64;
  kernel.bytes_per_item = 2 * bytes_of_first_type(name.text()).value_or(4);
  kernel.memory_ratio = kCachedRatio;
  kernel.flops_per_item = 20;
  use_argument(kernel, name, 0, 3);  // batch, and the output's width and height
  use_argument(kernel, name, 1, 9);
  use_argument(kernel, name, 2, 10);
  return kernel;
}

KernelClass softmax_warp(const KernelName& name, bool backward) {
  const double bytes = bytes_of_first_type(name.text()).value_or(4);
  KernelClass kernel = backward ? counted(name, 3 * bytes, 3, 5) : counted(name, 2 * bytes, 2, 4);
  kernel.memory_ratio = kRowsRatio;
  return kernel;
}

KernelClass max_pool(const KernelName& name) {
  const double bytes = bytes_of_first_type(name.text()).value_or(4);
  if (name.base() == "max_pool_forward_nchw") return counted(name, 5 * bytes + 8, 0);
  KernelClass kernel;
  kernel.memory_ratio = kStridedRatio;
  kernel.items = name.base() == "max_pool_backward_nchw" ? 1 : 4;
  kernel.bytes_per_item = 1.25 * bytes + 2;
  return kernel;
}

KernelClass sort(const KernelName& name) {
  KernelClass kernel;
  kernel.items = name.base().find("Onesweep") != std::string_view::npos ? 16 : 8;
  kernel.bytes_per_item = 2 * (bytes_of_first_type(name.text()).value_or(4) + 4);
  kernel.memory_ratio = kScatteredRatio * 1.5;
  return kernel;
}

struct Rule {
  std::string_view base;  // the name's beginning
  KernelClass (*classify)(const KernelName& name);
};

// The first that fits decides; of two that begin alike the longer stands first.
constexpr Rule kRules[] = {
    {"vectorized_elementwise_kernel", elementwise},
    {"unrolled_elementwise_kernel", elementwise},
    {"vectorized_templated_elementwise_kernel", elementwise},
    {"elementwise_kernel_with_index", elementwise},
    {"elementwise_kernel", elementwise},
    {"index_elementwise_kernel", indexed},
    {"_scatter_gather_elementwise_kernel", indexed},
    {"reduce_kernel", reduction},
    {"multi_tensor_apply_kernel", multi_tensor},
    {"distribution_elementwise_grid_stride_kernel",
     [](const KernelName& name) {
       return counted(name, bytes_of_first_type(name.text()).value_or(4), 0);
     }},
    {"fused_dropout_kernel",
     [](const KernelName& name) {
       return counted(name, 2 * bytes_of_first_type(name.text()).value_or(4) + 1, 3);
     }},
    {"vectorized_layer_norm_kernel", [](const KernelName& name) { return rows(name, 0, 2); }},
    {"layer_norm_grad_input_kernel",
     [](const KernelName& name) {
       return rows(name, std::max<std::size_t>(1, name.parameters().size()) - 1, 3);
     }},
    {"GammaBetaBackward",
     [](const KernelName& name) {
       KernelClass kernel = counted(name, 2 * bytes_of_first_type(name.text()).value_or(4), 0, 1);
       kernel.memory_ratio = kStridedRatio;
       return kernel;
     }},
    {"softmax_warp_forward", [](const KernelName& name) { return softmax_warp(name, false); }},
    {"softmax_warp_backward", [](const KernelName& name) { return softmax_warp(name, true); }},
    {"cunn_SoftMaxForward", [](const KernelName& name) { return rows(name, 2, 2.5); }},
    {"cunn_SoftMaxBackward", [](const KernelName& name) { return rows(name, 3, 3.5); }},
    {"max_pool_", max_pool},
    {"vectorized_gather_kernel", [](const KernelName& name) { return counted(name, 2, 3, 4); }},
    {"embedding_backward_feature_kernel",
     [](const KernelName& name) {
       KernelClass kernel = counted(name, 3 * bytes_of_first_type(name.text()).value_or(4), 3, 4);
       kernel.memory_ratio = kScatteredRatio;
       return kernel;
     }},
    {"conv_depthwise2d_forward_kernel", depthwise},
    {"conv_depthwise2d_backward_kernel", depthwise},
    {"conv_depthwise2d_grad_weight_kernel", depthwise_weights},
    {"DeviceRadixSort", sort},
    {"fmha_cutlassF", [](const KernelName& name) { return cutlass_attention(name, false); }},
    {"fmha_cutlassB", [](const KernelName& name) { return cutlass_attention(name, true); }},
    {"flash_fwd_kernel", [](const KernelName& name) { return flash_attention(name, false); }},
    {"flash_bwd_dq_dk_dv_loop", [](const KernelName& name) { return flash_attention(name, true); }},
    {"triton_", triton},
    {"convert", convert},
};

}  // namespace

KernelClass classify_kernel(std::string_view text) {
  const KernelName name(text);
  for (const Rule& rule : kRules) {
    if (name.base().starts_with(rule.base)) return rule.classify(name);
  }
  return by_parameters(name);
}

}  // namespace unstarve::emulated
