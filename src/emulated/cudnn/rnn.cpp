#include "emulated/cudnn/rnn.h"

#include <algorithm>

namespace unstarve::emulated::cudnn {
namespace {

constexpr int kMaxKernels = 4096;  // of one call: longer sequences in longer kernels

int layer_input(const RnnDescriptor& rnn, int layer) {
  const bool first = layer < rnn.directions();
  if (first) return rnn.input == InputMode::kSkip ? 0 : rnn.input_size;
  return rnn.output_size() * rnn.directions();
}

std::int64_t matrices_of(const RnnDescriptor& rnn, int layer) {
  const std::int64_t gates =
      std::int64_t{rnn.gates()} * rnn.hidden_size * (layer_input(rnn, layer) + rnn.output_size());
  return gates + (rnn.projects() ? std::int64_t{rnn.hidden_size} * rnn.output_size() : 0);
}

std::int64_t matrices_before(const RnnDescriptor& rnn, int layer) {
  std::int64_t numbers = 0;
  for (int i = 0; i < layer; ++i) numbers += matrices_of(rnn, i);
  return numbers;
}

int biases_per_gate(const RnnDescriptor& rnn) {
  if (rnn.bias == BiasMode::kNone) return 0;
  return rnn.bias == BiasMode::kDouble ? 2 : 1;
}

std::int64_t biases_of_layer(const RnnDescriptor& rnn) {
  return std::int64_t{biases_per_gate(rnn)} * rnn.gates() * rnn.hidden_size;
}

int layers_of(const RnnDescriptor& rnn) { return rnn.layers * rnn.directions(); }

}  // namespace

int RnnDescriptor::gates() const {
  if (mode == RnnMode::kLstm) return 4;
  return mode == RnnMode::kGru ? 3 : 1;
}

int RnnDescriptor::output_size() const {
  return projection_size > 0 ? projection_size : hidden_size;
}

bool valid_place(const RnnDescriptor& rnn, int layer, int matrix) {
  return layer >= 0 && layer < layers_of(rnn) && matrix >= 0 && matrix <= 2 * rnn.gates();
}

WeightPlace matrix_place(const RnnDescriptor& rnn, int layer, int matrix) {
  const int gates = rnn.gates();
  const int input = layer_input(rnn, layer);
  const std::int64_t of_input = std::int64_t{rnn.hidden_size} * input;
  const std::int64_t of_state = std::int64_t{rnn.hidden_size} * rnn.output_size();
  WeightPlace place;
  place.offset = matrices_before(rnn, layer);
  place.rows = rnn.hidden_size;
  if (matrix < gates) {
    place.offset += matrix * of_input;
    place.columns = input;
  } else if (matrix < 2 * gates) {
    place.offset += gates * of_input + (matrix - gates) * of_state;
    place.columns = rnn.output_size();
  } else if (rnn.projects()) {
    place.offset += gates * (of_input + of_state);
    place.rows = rnn.output_size();
    place.columns = rnn.hidden_size;
  }
  return place;
}

WeightPlace bias_place(const RnnDescriptor& rnn, int layer, int matrix) {
  const int gates = rnn.gates();
  const bool of_state = matrix >= gates;
  WeightPlace place;
  const bool there =
      matrix < 2 * gates && (rnn.bias == BiasMode::kDouble ||
                             rnn.bias == (of_state ? BiasMode::kRecurrent : BiasMode::kInput));
  if (!there) return place;
  const int index = rnn.bias == BiasMode::kRecurrent ? matrix - gates : matrix;
  place.offset = matrices_before(rnn, layers_of(rnn)) + layer * biases_of_layer(rnn) +
                 std::int64_t{index} * rnn.hidden_size;
  place.rows = rnn.hidden_size;
  place.columns = 1;
  return place;
}

std::int64_t weight_count(const RnnDescriptor& rnn) {
  return matrices_before(rnn, layers_of(rnn)) + layers_of(rnn) * biases_of_layer(rnn);
}

std::size_t reserve_bytes(const RnnDescriptor& rnn, int steps, int batch) {
  const double numbers =
      static_cast<double>(steps) * batch * layers_of(rnn) * rnn.hidden_size * (rnn.gates() + 1);
  return static_cast<std::size_t>(numbers * bytes_of(number_type(rnn.type)));
}

std::size_t workspace_bytes(const RnnDescriptor& rnn, int steps, int batch) {
  const double numbers =
      static_cast<double>(steps) * batch * rnn.directions() * rnn.hidden_size * rnn.gates();
  return static_cast<std::size_t>(numbers * bytes_of(number_type(rnn.type)));
}

Status run_rnn(Handle* handle, const char* name, const RnnDescriptor& rnn,
               const RnnDataDescriptor& data) {
  if (handle == nullptr) return Status::kBadParam;
  const double places = static_cast<double>(data.steps) * data.batch;
  const double weights = static_cast<double>(weight_count(rnn));
  const double state = static_cast<double>(layers_of(rnn)) * rnn.hidden_size * (rnn.gates() + 2);
  OtherWork work;
  work.type = number_type(rnn.type);
  work.flops = 2 * weights * places;
  work.bytes = (weights + places * state) * bytes_of(work.type);
  work.tensor_cores = of_tensor_cores(work.type) || rnn.math != MathType::kFma;
  work.kernels = std::clamp(layers_of(rnn) * (2 * data.steps + 1), 1, kMaxKernels);
  return status_of(submit_split(handle->target, name, work));
}

}  // namespace unstarve::emulated::cudnn
