#include "emulated/cudnn/graph_work.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "emulated/cudnn/backend.h"
#include "emulated/cudnn/cudnn_abi.h"

namespace unstarve::emulated::cudnn {
namespace {

using Name = AttributeName;
using Sizes = std::vector<std::int64_t>;

/// The attributes in which a convolution's operation keeps its parts.
struct ConvolutionNames {
  DescriptorType type;
  ConvolutionPass pass;
  const char* name;
  Name convolution;
  Name input;
  Name filter;
  Name output;
};

constexpr ConvolutionNames kConvolutions[] = {
    {DescriptorType::kConvolutionForward, ConvolutionPass::kForward,
     "emulated cudnnBackendExecute convolution forward", Name::kForwardConvolution,
     Name::kForwardInput, Name::kForwardFilter, Name::kForwardOutput},
    {DescriptorType::kConvolutionBackwardData, ConvolutionPass::kInputGradient,
     "emulated cudnnBackendExecute convolution backward data", Name::kBackwardDataConvolution,
     Name::kBackwardDataInput, Name::kBackwardDataFilter, Name::kBackwardDataOutput},
    {DescriptorType::kConvolutionBackwardFilter, ConvolutionPass::kWeightGradient,
     "emulated cudnnBackendExecute convolution backward filter", Name::kBackwardFilterConvolution,
     Name::kBackwardFilterInput, Name::kBackwardFilterFilter, Name::kBackwardFilterOutput},
};

Sizes sizes_of(const Node* tensor) {
  return tensor == nullptr ? Sizes{} : tensor->numbers(Name::kTensorDimensions);
}

NumberType type_of(const Node* tensor) {
  return tensor == nullptr ? NumberType::kF32
                           : number_type(static_cast<Type>(tensor->choice(Name::kTensorType, 0)));
}

double product(const Sizes& sizes) {
  double numbers = sizes.empty() ? 0 : 1;
  for (const std::int64_t size : sizes) numbers *= static_cast<double>(size);
  return numbers;
}

double size_from_end(const Sizes& sizes, std::size_t place) {
  return sizes.size() < place ? 1 : static_cast<double>(sizes[sizes.size() - place]);
}

std::vector<const Node*> operations_of(const Node& graph) {
  std::vector<const Node*> operations;
  if (const Attribute* attribute = graph.find(Name::kGraphOperations)) {
    for (const NodePointer& node : attribute->nodes) operations.push_back(node.get());
  }
  return operations;
}

const ConvolutionNames* names_of(const Node& operation) {
  for (const ConvolutionNames& names : kConvolutions) {
    if (names.type == operation.type) return &names;
  }
  return nullptr;
}

bool describe_convolution(const Node& operation, const ConvolutionNames& names,
                          ConvolutionWork* work) {
  const Node* const input = operation.node(names.input);
  const Sizes x = sizes_of(input);
  const Sizes w = sizes_of(operation.node(names.filter));
  const Sizes y = sizes_of(operation.node(names.output));
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size() || y.size() != x.size()) return false;
  work->pass = names.pass;
  work->batch = x[0];
  work->input_channels = x[1];
  work->output_channels = y[1];
  work->groups = w[1] > 0 ? std::max<std::int64_t>(1, x[1] / w[1]) : 1;
  work->spatial = static_cast<int>(x.size()) - 2;
  const Node* const convolution = operation.node(names.convolution);
  const Sizes strides =
      convolution == nullptr ? Sizes{} : convolution->numbers(Name::kConvolutionStrides);
  for (std::size_t i = 0; i + 2 < x.size(); ++i) {
    work->input[i] = x[i + 2];
    work->filter[i] = w[i + 2];
    work->output[i] = y[i + 2];
    work->stride[i] = i < strides.size() ? strides[i] : 1;
  }
  work->type = type_of(input);
  const Sizes layout = input->numbers(Name::kTensorStrides);
  work->channels_last = layout.size() > 1 && layout[1] == 1 && x[1] > 1;
  return true;
}

/// Operations of a product of matrices: 2 M N K for each of the batch.
double matmul_flops(const Node& operation) {
  const Sizes a = sizes_of(operation.node(Name::kMatmulA));
  const Sizes c = sizes_of(operation.node(Name::kMatmulC));
  const Sizes b = sizes_of(operation.node(Name::kMatmulB));
  const double outputs = c.empty() ? size_from_end(a, 2) * size_from_end(b, 1) : product(c);
  return 2 * outputs * size_from_end(a, 1);
}

/// Operations of attention: scores, and what they weigh. Its way back has five products for two.
double attention_flops(const Node& operation, bool backward) {
  const Sizes q = sizes_of(operation.node(backward ? Name::kSdpaBackwardQ : Name::kSdpaForwardQ));
  const Sizes k = sizes_of(operation.node(backward ? Name::kSdpaBackwardK : Name::kSdpaForwardK));
  const Sizes v = sizes_of(operation.node(backward ? Name::kSdpaBackwardV : Name::kSdpaForwardV));
  if (q.empty() || k.empty()) return 0;
  const double scores = product(q) / size_from_end(q, 1) * size_from_end(k, 2);
  const double forward = 2 * scores * (size_from_end(q, 1) + size_from_end(v.empty() ? q : v, 1));
  return backward ? 2.5 * forward : forward;
}

struct Products {
  double flops = 0;
  NumberType type = NumberType::kF32;
  bool attention = false;
};

Products products_of(const std::vector<const Node*>& operations) {
  Products products;
  int matmuls = 0;
  bool typed = false;
  for (const Node* operation : operations) {
    const Node* input = nullptr;
    if (operation->type == DescriptorType::kMatmulOperation) {
      products.flops += matmul_flops(*operation);
      input = operation->node(Name::kMatmulA);
      ++matmuls;
    } else if (operation->type == DescriptorType::kSdpaForward ||
               operation->type == DescriptorType::kSdpaBackward) {
      const bool backward = operation->type == DescriptorType::kSdpaBackward;
      products.flops += attention_flops(*operation, backward);
      input = operation->node(backward ? Name::kSdpaBackwardQ : Name::kSdpaForwardQ);
      products.attention = true;
    }
    if (input != nullptr && !typed) {
      products.type = type_of(input);
      typed = true;
    }
  }
  products.attention = products.attention || matmuls > 1;
  return products;
}

/// Attention whose scores are masked by comparing rows with columns skips the blocks above the
/// diagonal: half of the work.
bool causal(const std::vector<const Node*>& operations) {
  int compared = 0;
  int indexed = 0;
  for (const Node* operation : operations) {
    if (operation->type != DescriptorType::kPointwiseOperation) continue;
    const Node* const pointwise = operation->node(Name::kPointwiseDescriptor);
    if (pointwise == nullptr) continue;
    const std::int32_t mode = pointwise->choice(Name::kPointwiseMode, -1);
    compared += mode == kCompareGreaterOrEqual ? 1 : 0;
    indexed += mode == kGenerateIndex ? 1 : 0;
  }
  return compared > 0 && indexed > 1;
}

/// Bytes of the tensors that lie in memory, each once.
double bytes_of_tensors(const std::vector<const Node*>& operations) {
  std::set<std::int64_t> seen;
  double bytes = 0;
  for (const Node* operation : operations) {
    for (const auto& [name, attribute] : operation->attributes) {
      for (const NodePointer& node : attribute.nodes) {
        if (node->type != DescriptorType::kTensor || node->flag(Name::kTensorIsVirtual)) continue;
        if (!seen.insert(node->number(Name::kTensorUniqueId, 0)).second) continue;
        bytes += product(sizes_of(node.get())) * bytes_of(type_of(node.get()));
      }
    }
  }
  return bytes;
}

/// One operation on every number of what an operation without products writes.
double numbers_of_tensors(double bytes, NumberType type) { return bytes / bytes_of(type); }

}  // namespace

bool may_round_floats(const Node& graph) {
  const std::vector<const Node*> operations = operations_of(graph);
  for (const Node* operation : operations) {
    if (const ConvolutionNames* names = names_of(*operation)) {
      return type_of(operation->node(names->input)) == NumberType::kF32;
    }
  }
  const Products products = products_of(operations);
  return products.flops > 0 && products.type == NumberType::kF32;
}

GraphWork describe_graph(const Node& graph, bool tf32) {
  GraphWork described;
  const std::vector<const Node*> operations = operations_of(graph);
  for (const Node* operation : operations) {
    const ConvolutionNames* const names = names_of(*operation);
    ConvolutionWork convolution;
    if (names == nullptr || !describe_convolution(*operation, *names, &convolution)) continue;
    convolution.tf32 = tf32;
    return {names->name, convolution};
  }
  const Products products = products_of(operations);
  OtherWork work;
  work.bytes = bytes_of_tensors(operations);
  work.type = products.type;
  work.flops = products.flops > 0 ? products.flops : numbers_of_tensors(work.bytes, work.type);
  work.tensor_cores = products.flops > 0 && (of_tensor_cores(work.type) || tf32);
  if (products.attention && causal(operations)) work.flops /= 2;
  described.work = work;
  if (products.attention) described.name = "emulated cudnnBackendExecute attention";
  return described;
}

}  // namespace unstarve::emulated::cudnn
