#include "emulated/cudnn/backend.h"

#include <algorithm>
#include <cstring>

#include "emulated/cudnn/handle.h"

// The six functions of the backend interface. Every graph of operations has one engine, and a graph
// that multiplies floats a second one, which does not round them for the tensor cores: what says so
// is its notes, by which programs choose.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

using Name = AttributeName;

constexpr std::int64_t kMaxElements = 1 << 20;
constexpr std::int64_t kRoundingEngine = 0;
constexpr std::int64_t kExactEngine = 1;
constexpr char kPlanText[] = "{\"emulated\": true}";

/// Room of the program's for the values of an attribute.
struct Room {
  AttributeType type;
  std::int64_t elements;
  std::int64_t* count;
  void* values;
};

Status give(const Attribute& attribute, const Room& room) {
  const bool asked = room.elements > 0 && room.values != nullptr;
  const std::int64_t given = asked ? std::min(room.elements, attribute.count) : 0;
  // Without room the count is how many there are, else how many are given.
  if (room.count != nullptr) *room.count = asked ? given : attribute.count;
  if (given == 0) return Status::kSuccess;
  const auto elements = static_cast<std::size_t>(given);
  if (attribute.type != AttributeType::kDescriptor) {
    const std::size_t bytes = elements * element_bytes(attribute.type);
    std::memcpy(room.values, attribute.bytes.data(), std::min(attribute.bytes.size(), bytes));
    return Status::kSuccess;
  }
  auto* const descriptors = static_cast<BackendDescriptor**>(room.values);
  for (std::size_t i = 0; i < std::min(elements, attribute.nodes.size()); ++i) {
    if (descriptors[i] == nullptr) return Status::kBadParam;
    // A copy, as programs may set attributes of what they are given.
    descriptors[i]->node = std::make_shared<Node>(*attribute.nodes[i]);
  }
  return Status::kSuccess;
}

Attribute number_attribute(std::int64_t value) {
  Node node;
  node.set_numbers(Name::kEngineIndex, {value});
  return node.attributes[Name::kEngineIndex];
}

Attribute empty_attribute(AttributeType type) {
  Attribute attribute;
  attribute.type = type;
  return attribute;
}

NodePointer engine_config(NodePointer graph, std::int64_t index) {
  auto engine = std::make_shared<Node>();
  engine->type = DescriptorType::kEngine;
  engine->set_node(Name::kEngineGraph, std::move(graph));
  engine->set_numbers(Name::kEngineIndex, {index});
  auto config = std::make_shared<Node>();
  config->type = DescriptorType::kEngineConfig;
  config->set_node(Name::kConfigEngine, std::move(engine));
  return config;
}

std::int64_t engines_of(const Node& graph) { return may_round_floats(graph) ? 2 : 1; }

/// The configurations for a graph, the fastest first.
Attribute heuristic_results(const Node& heuristic) {
  Attribute results = empty_attribute(AttributeType::kDescriptor);
  const NodePointer graph = heuristic.node_pointer(Name::kHeuristicGraph);
  if (graph == nullptr) return results;
  results.count = engines_of(*graph);
  for (std::int64_t i = 0; i < results.count; ++i) {
    results.nodes.push_back(engine_config(graph, i));
  }
  return results;
}

bool rounds_floats(const Node& engine) {
  const Node* const graph = engine.node(Name::kEngineGraph);
  return graph != nullptr && may_round_floats(*graph) &&
         engine.number(Name::kEngineIndex, kRoundingEngine) != kExactEngine;
}

/// What programs leave out an engine for, where floats must stay what they are.
Attribute numerical_notes(const Node& engine) {
  Attribute notes = empty_attribute(AttributeType::kNumericalNote);
  if (!rounds_floats(engine)) return notes;
  // Not that inputs become a half type, for which PyTorch leaves an engine out in any case.
  const std::int32_t values[] = {kNoteTensorCore};
  notes.count = 1;
  notes.bytes.resize(sizeof(values));
  std::memcpy(notes.bytes.data(), values, sizeof(values));
  return notes;
}

Attribute plan_text() {
  Attribute text = empty_attribute(AttributeType::kChar);
  text.count = sizeof(kPlanText);
  text.bytes.resize(sizeof(kPlanText));
  std::memcpy(text.bytes.data(), kPlanText, sizeof(kPlanText));
  return text;
}

/// An attribute that follows from others; count -1: it does not.
Attribute derived(const Node& node, Name name) {
  switch (name) {
    case Name::kHeuristicResults: return heuristic_results(node);
    case Name::kGraphEngineCount: return number_attribute(engines_of(node));
    case Name::kPlanWorkspaceBytes:
    case Name::kConfigWorkspaceBytes:
    case Name::kConfigSharedMemoryBytes: return number_attribute(0);
    case Name::kEngineNumericalNotes: return numerical_notes(node);
    case Name::kPlanJson: return plan_text();
    case Name::kConfigIntermediates:
    case Name::kPlanComputedIntermediates:
    case Name::kPlanRunOnlyIntermediates:
    case Name::kEngineKnobs:
    case Name::kEngineLayouts:
    case Name::kEngineBehaviorNotes: return empty_attribute(AttributeType::kInt64);
    default: {
      Attribute none;
      none.count = -1;
      return none;
    }
  }
}

void finalize_plan(Node* plan) {
  const Node* const config = plan->node(Name::kPlanConfig);
  const Node* const engine = config == nullptr ? nullptr : config->node(Name::kConfigEngine);
  const Node* const graph = engine == nullptr ? nullptr : engine->node(Name::kEngineGraph);
  if (graph != nullptr) plan->work = describe_graph(*graph, rounds_floats(*engine));
}

Status set_attribute(Node* node, Name name, const Room& room) {
  const auto count = static_cast<std::size_t>(room.elements);
  Attribute attribute;
  attribute.type = room.type;
  attribute.count = room.elements;
  if (room.type != AttributeType::kDescriptor) {
    const auto* const first = static_cast<const std::byte*>(room.values);
    attribute.bytes.assign(first, first + count * element_bytes(room.type));
  } else {
    auto* const descriptors = static_cast<BackendDescriptor* const*>(room.values);
    for (std::size_t i = 0; i < count; ++i) {
      if (descriptors[i] == nullptr) return Status::kBadParam;
      attribute.nodes.push_back(descriptors[i]->node);
    }
  }
  node->attributes[name] = std::move(attribute);
  return Status::kSuccess;
}

}  // namespace

extern "C" {

Status cudnnBackendCreateDescriptor(DescriptorType type, BackendDescriptor** out) {
  if (out == nullptr) return Status::kBadParam;
  return guarded([&] {
    auto descriptor = std::make_unique<BackendDescriptor>();
    descriptor->node = std::make_shared<Node>();
    descriptor->node->type = type;
    *out = descriptor.release();
    return Status::kSuccess;
  });
}

Status cudnnBackendDestroyDescriptor(BackendDescriptor* descriptor) { return destroy(descriptor); }

Status cudnnBackendSetAttribute(BackendDescriptor* descriptor, AttributeName name,
                                AttributeType type, std::int64_t count, const void* values) {
  if (descriptor == nullptr || count < 0 || count > kMaxElements ||
      (count > 0 && values == nullptr)) {
    return Status::kBadParam;
  }
  return guarded([&] {
    return set_attribute(descriptor->node.get(), name,
                         {type, count, nullptr, const_cast<void*>(values)});
  });
}

Status cudnnBackendGetAttribute(const BackendDescriptor* descriptor, AttributeName name,
                                AttributeType type, std::int64_t room, std::int64_t* count,
                                void* values) {
  if (descriptor == nullptr || room < 0) return Status::kBadParam;
  return guarded([&] {
    const Room out = {type, room, count, values};
    const Attribute from_others = derived(*descriptor->node, name);
    if (from_others.count >= 0) return give(from_others, out);
    const Attribute* const attribute = descriptor->node->find(name);
    return give(attribute != nullptr ? *attribute : empty_attribute(type), out);
  });
}

Status cudnnBackendFinalize(BackendDescriptor* descriptor) {
  if (descriptor == nullptr) return Status::kBadParam;
  return guarded([&] {
    if (descriptor->node->type == DescriptorType::kExecutionPlan) {
      finalize_plan(descriptor->node.get());
    }
    return Status::kSuccess;
  });
}

Status cudnnBackendExecute(Handle* handle, const BackendDescriptor* plan,
                           const BackendDescriptor* pack) {
  if (handle == nullptr || plan == nullptr || pack == nullptr ||
      plan->node->type != DescriptorType::kExecutionPlan) {
    return Status::kBadParam;
  }
  const GraphWork& graph = plan->node->work;
  if (const auto* convolution = std::get_if<ConvolutionWork>(&graph.work)) {
    return status_of(submit(handle->target, graph.name, *convolution));
  }
  return status_of(submit(handle->target, graph.name, std::get<OtherWork>(graph.work)));
}

}  // extern "C"
