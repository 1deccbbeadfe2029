#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "emulated/cudnn/backend_abi.h"
#include "emulated/cudnn/graph_work.h"

/// cuDNN's backend interface: everything is a descriptor with attributes, some of which are other
/// descriptors.
namespace unstarve::emulated::cudnn {

struct Node;
using NodePointer = std::shared_ptr<const Node>;

struct Attribute {
  AttributeType type = AttributeType::kInt64;
  std::int64_t count = 0;
  std::vector<std::byte> bytes;    // of all but descriptors
  std::vector<NodePointer> nodes;  // of descriptors
};

/// What a descriptor holds. Descriptors that refer to it keep it.
struct Node {
  DescriptorType type = DescriptorType::kTensor;
  std::map<AttributeName, Attribute> attributes;
  GraphWork work;  // of an execution plan, once it is finalized

  const Attribute* find(AttributeName name) const;
  /// The first node of an attribute; nullptr: none.
  const Node* node(AttributeName name) const;
  NodePointer node_pointer(AttributeName name) const;
  std::vector<std::int64_t> numbers(AttributeName name) const;
  std::int64_t number(AttributeName name, std::int64_t otherwise) const;
  /// Of an attribute with values of four bytes: an enumeration.
  std::int32_t choice(AttributeName name, std::int32_t otherwise) const;
  bool flag(AttributeName name) const;

  void set_numbers(AttributeName name, const std::vector<std::int64_t>& values);
  void set_node(AttributeName name, NodePointer node);
};

/// What a cudnnBackendDescriptor_t points to.
struct BackendDescriptor {
  std::shared_ptr<Node> node;
};

}  // namespace unstarve::emulated::cudnn
