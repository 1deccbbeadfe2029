#include <cstring>

#include "emulated/cudnn/backend.h"

namespace unstarve::emulated::cudnn {
namespace {

template <class Value>
Value value_at(const Attribute& attribute, std::size_t index) {
  Value value = {};
  std::memcpy(&value, attribute.bytes.data() + index * sizeof(Value), sizeof(Value));
  return value;
}

}  // namespace

const Attribute* Node::find(AttributeName name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}

NodePointer Node::node_pointer(AttributeName name) const {
  const Attribute* const attribute = find(name);
  if (attribute == nullptr || attribute->nodes.empty()) return nullptr;
  return attribute->nodes.front();
}

const Node* Node::node(AttributeName name) const { return node_pointer(name).get(); }

std::vector<std::int64_t> Node::numbers(AttributeName name) const {
  std::vector<std::int64_t> values;
  const Attribute* const attribute = find(name);
  if (attribute == nullptr || attribute->type != AttributeType::kInt64) return values;
  for (std::size_t i = 0; (i + 1) * sizeof(std::int64_t) <= attribute->bytes.size(); ++i) {
    values.push_back(value_at<std::int64_t>(*attribute, i));
  }
  return values;
}

std::int64_t Node::number(AttributeName name, std::int64_t otherwise) const {
  const std::vector<std::int64_t> values = numbers(name);
  return values.empty() ? otherwise : values.front();
}

std::int32_t Node::choice(AttributeName name, std::int32_t otherwise) const {
  const Attribute* const attribute = find(name);
  const bool there = attribute != nullptr && attribute->bytes.size() >= sizeof(std::int32_t);
  return there ? value_at<std::int32_t>(*attribute, 0) : otherwise;
}

bool Node::flag(AttributeName name) const {
  const Attribute* const attribute = find(name);
  return attribute != nullptr && !attribute->bytes.empty() &&
         attribute->bytes.front() != std::byte{0};
}

void Node::set_numbers(AttributeName name, const std::vector<std::int64_t>& values) {
  Attribute attribute;
  attribute.count = static_cast<std::int64_t>(values.size());
  attribute.bytes.resize(values.size() * sizeof(std::int64_t));
  std::memcpy(attribute.bytes.data(), values.data(), attribute.bytes.size());
  attributes[name] = std::move(attribute);
}

void Node::set_node(AttributeName name, NodePointer node) {
  Attribute attribute;
  attribute.type = AttributeType::kDescriptor;
  attribute.count = 1;
  attribute.nodes.push_back(std::move(node));
  attributes[name] = std::move(attribute);
}

}  // namespace unstarve::emulated::cudnn
