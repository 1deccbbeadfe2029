#include "emulated/cudnn/graph_work.h"

#include <gtest/gtest.h>

#include <cstring>

#include "emulated/cudnn/backend.h"
#include "emulated/cudnn/cudnn_abi.h"

namespace unstarve::emulated::cudnn {
namespace {

using Name = AttributeName;

void set_choice(Node* node, Name name, std::int32_t value) {
  Attribute attribute;
  attribute.count = 1;
  attribute.bytes.resize(sizeof(value));
  std::memcpy(attribute.bytes.data(), &value, sizeof(value));
  node->attributes[name] = attribute;
}

NodePointer tensor(std::int64_t id, const std::vector<std::int64_t>& sizes, Type type,
                   bool is_virtual = false) {
  auto node = std::make_shared<Node>();
  node->type = DescriptorType::kTensor;
  node->set_numbers(Name::kTensorDimensions, sizes);
  node->set_numbers(Name::kTensorUniqueId, {id});
  set_choice(node.get(), Name::kTensorType, static_cast<std::int32_t>(type));
  set_choice(node.get(), Name::kTensorIsVirtual, is_virtual ? 1 : 0);
  return node;
}

std::shared_ptr<Node> operation(DescriptorType type,
                                const std::vector<std::pair<Name, NodePointer>>& tensors) {
  auto node = std::make_shared<Node>();
  node->type = type;
  for (const auto& [name, value] : tensors) node->set_node(name, value);
  return node;
}

Node graph_of(const std::vector<NodePointer>& operations) {
  Node graph;
  graph.type = DescriptorType::kOperationGraph;
  Attribute attribute;
  attribute.type = AttributeType::kDescriptor;
  attribute.count = static_cast<std::int64_t>(operations.size());
  attribute.nodes = operations;
  graph.attributes[Name::kGraphOperations] = attribute;
  return graph;
}

NodePointer pointwise(std::int32_t mode) {
  auto descriptor = std::make_shared<Node>();
  descriptor->type = DescriptorType::kPointwise;
  set_choice(descriptor.get(), Name::kPointwiseMode, mode);
  return operation(DescriptorType::kPointwiseOperation, {{Name::kPointwiseDescriptor, descriptor}});
}

/// Scores of 4 heads of 128 by 128, then what they weigh; the scores stay inside.
std::vector<NodePointer> attention() {
  const NodePointer scores = tensor(4, {4, 128, 128}, Type::kHalf, true);
  return {operation(DescriptorType::kMatmulOperation,
                    {{Name::kMatmulA, tensor(1, {4, 128, 64}, Type::kHalf)},
                     {Name::kMatmulB, tensor(2, {4, 64, 128}, Type::kHalf)},
                     {Name::kMatmulC, scores}}),
          operation(DescriptorType::kMatmulOperation,
                    {{Name::kMatmulA, scores},
                     {Name::kMatmulB, tensor(3, {4, 128, 64}, Type::kHalf)},
                     {Name::kMatmulC, tensor(5, {4, 128, 64}, Type::kHalf)}})};
}

TEST(GraphWorkTest, AConvolutionIsItsShapes) {
  const Node graph =
      graph_of({operation(DescriptorType::kConvolutionForward,
                          {{Name::kForwardInput, tensor(1, {8, 32, 28, 28}, Type::kFloat)},
                           {Name::kForwardFilter, tensor(2, {64, 16, 3, 3}, Type::kFloat)},
                           {Name::kForwardOutput, tensor(3, {8, 64, 26, 26}, Type::kFloat)}})});
  EXPECT_TRUE(may_round_floats(graph));
  const GraphWork described = describe_graph(graph, true);
  const auto& work = std::get<ConvolutionWork>(described.work);
  EXPECT_EQ(work.pass, ConvolutionPass::kForward);
  EXPECT_EQ(work.batch, 8);
  EXPECT_EQ(work.input_channels, 32);
  EXPECT_EQ(work.output_channels, 64);
  EXPECT_EQ(work.groups, 2);
  EXPECT_EQ(work.filter[1], 3);
  EXPECT_EQ(work.output[0], 26);
  EXPECT_TRUE(work.tf32);
  EXPECT_FALSE(work.channels_last);
}

TEST(GraphWorkTest, AttentionIsItsProductsAndTheTensorsThatLieInMemory) {
  const GraphWork described = describe_graph(graph_of(attention()), false);
  EXPECT_STREQ(described.name, "emulated cudnnBackendExecute attention");
  const auto& work = std::get<OtherWork>(described.work);
  EXPECT_DOUBLE_EQ(work.flops, 2 * 2.0 * 4 * 128 * 128 * 64);
  EXPECT_DOUBLE_EQ(work.bytes, 4 * 2.0 * 4 * 128 * 64);  // four tensors; not the scores
  EXPECT_TRUE(work.tensor_cores);
  EXPECT_EQ(work.type, NumberType::kF16);
}

TEST(GraphWorkTest, CausalAttentionIsHalfOfIt) {
  std::vector<NodePointer> operations = attention();
  operations.push_back(pointwise(kGenerateIndex));
  operations.push_back(pointwise(kGenerateIndex));
  operations.push_back(pointwise(kCompareGreaterOrEqual));
  const GraphWork described = describe_graph(graph_of(operations), false);
  EXPECT_DOUBLE_EQ(std::get<OtherWork>(described.work).flops, 2.0 * 4 * 128 * 128 * 64);
}

TEST(GraphWorkTest, HalfFloatsHaveNothingToRound) {
  EXPECT_FALSE(may_round_floats(graph_of(attention())));
  EXPECT_FALSE(may_round_floats(graph_of({})));
}

TEST(GraphWorkTest, AGraphOfNothingTakesNothing) {
  const GraphWork described = describe_graph(graph_of({}), false);
  EXPECT_EQ(std::get<OtherWork>(described.work).bytes, 0);
}

}  // namespace
}  // namespace unstarve::emulated::cudnn
