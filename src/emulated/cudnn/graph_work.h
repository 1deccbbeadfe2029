#pragma once

#include <variant>

#include "emulated/duration/work.h"

namespace unstarve::emulated::cudnn {

struct Node;

/// What one run of a graph of operations takes: a convolution with whatever is fused to it, or the
/// sum of the products in it and the bytes of the tensors that are not intermediate.
struct GraphWork {
  const char* name = "emulated cudnnBackendExecute";
  std::variant<OtherWork, ConvolutionWork> work;
};

/// `tf32`: the engine may round floats for the tensor cores.
GraphWork describe_graph(const Node& graph, bool tf32);

/// Whether the graph multiplies floats, so that an engine may round them.
bool may_round_floats(const Node& graph);

}  // namespace unstarve::emulated::cudnn
