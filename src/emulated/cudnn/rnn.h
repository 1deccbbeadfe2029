#pragma once

#include "emulated/cudnn/descriptors.h"
#include "emulated/cudnn/handle.h"

/// Recurrent networks: how many weights they have and where each matrix lies, and what they cost.
namespace unstarve::emulated::cudnn {

/// What a cudnnRNNDescriptor_t points to.
struct RnnDescriptor {
  RnnMode mode = RnnMode::kLstm;
  Direction direction = Direction::kOne;
  BiasMode bias = BiasMode::kDouble;
  InputMode input = InputMode::kLinear;
  Type type = Type::kFloat;
  MathType math = MathType::kDefault;
  int input_size = 0;
  int hidden_size = 0;
  int projection_size = 0;  // of the hidden state that is given on; hidden_size: none
  int layers = 1;

  int gates() const;
  int directions() const { return direction == Direction::kBoth ? 2 : 1; }
  int output_size() const;
  bool projects() const { return output_size() != hidden_size; }
};

/// What a cudnnRNNDataDescriptor_t points to.
struct RnnDataDescriptor {
  Type type = Type::kFloat;
  int steps = 0;
  int batch = 0;
  int vector = 0;
};

using Data = const RnnDataDescriptor*;

/// One matrix, or one bias, of a network: its place among all weights and its shape, in numbers.
struct WeightPlace {
  std::int64_t offset = 0;
  int rows = 0;
  int columns = 0;  // 0: there is no such matrix
};

/// `layer` counts the directions of each layer too; `matrix` the gates of the input, then those of
/// the state, then the projection. All matrices lie before all biases, each without gaps.
WeightPlace matrix_place(const RnnDescriptor& rnn, int layer, int matrix);
WeightPlace bias_place(const RnnDescriptor& rnn, int layer, int matrix);
std::int64_t weight_count(const RnnDescriptor& rnn);
bool valid_place(const RnnDescriptor& rnn, int layer, int matrix);

/// Bytes that a training step keeps for its way back, and those that a call needs meanwhile.
std::size_t reserve_bytes(const RnnDescriptor& rnn, int steps, int batch);
std::size_t workspace_bytes(const RnnDescriptor& rnn, int steps, int batch);

/// One pass through the network: for every step of every layer a product of matrices and the gates,
/// kernel by kernel.
Status run_rnn(Handle* handle, const char* name, const RnnDescriptor& rnn,
               const RnnDataDescriptor& data);

}  // namespace unstarve::emulated::cudnn
