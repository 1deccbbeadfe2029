#include "emulated/cudnn/rnn.h"

// Recurrent networks as of cuDNN 8's second interface, the only one of cuDNN 9.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

/// Says where a matrix or a bias lies, and its shape, as a tensor of three dimensions.
void give_place(const RnnDescriptor& rnn, const WeightPlace& place, const void* weights,
                TensorDescriptor* tensor, void** address) {
  const bool there = place.columns > 0;
  if (tensor != nullptr) {
    tensor->type = rnn.type;
    tensor->count = there ? 3 : 0;
    tensor->sizes = {1, place.rows, place.columns};
    tensor->strides = {place.rows * place.columns, place.columns, 1};
  }
  if (address == nullptr) return;
  const auto bytes = static_cast<std::uintptr_t>(static_cast<double>(place.offset) *
                                                 bytes_of(number_type(rnn.type)));
  const auto base = reinterpret_cast<std::uintptr_t>(weights);
  *address = there ? reinterpret_cast<void*>(base + bytes) : nullptr;
}

Status run(Handle* handle, const char* name, const RnnDescriptor* rnn,
           const RnnDataDescriptor* data) {
  if (rnn == nullptr || data == nullptr) return Status::kBadParam;
  return run_rnn(handle, name, *rnn, *data);
}

}  // namespace

extern "C" {

Status cudnnCreateRNNDescriptor(RnnDescriptor** out) { return create(out); }
Status cudnnDestroyRNNDescriptor(RnnDescriptor* rnn) { return destroy(rnn); }
Status cudnnCreateRNNDataDescriptor(RnnDataDescriptor** out) { return create(out); }
Status cudnnDestroyRNNDataDescriptor(RnnDataDescriptor* data) { return destroy(data); }

Status cudnnSetRNNDescriptor_v8(RnnDescriptor* rnn, Choice, RnnMode mode, BiasMode bias,
                                Direction direction, InputMode input, Type type, Type,
                                MathType math, std::int32_t input_size, std::int32_t hidden_size,
                                std::int32_t projection_size, std::int32_t layers,
                                DropoutDescriptor*, std::uint32_t) {
  if (rnn == nullptr || input_size < 0 || hidden_size < 1 || layers < 1) return Status::kBadParam;
  *rnn = {.mode = mode,
          .direction = direction,
          .bias = bias,
          .input = input,
          .type = type,
          .math = math,
          .input_size = input_size,
          .hidden_size = hidden_size,
          .projection_size = projection_size,
          .layers = layers};
  return Status::kSuccess;
}

Status cudnnSetRNNDataDescriptor(RnnDataDescriptor* data, Type type, Choice, int steps, int batch,
                                 int vector, const int*, void*) {
  if (data == nullptr || steps < 1 || batch < 1 || vector < 1) return Status::kBadParam;
  *data = {type, steps, batch, vector};
  return Status::kSuccess;
}

Status cudnnGetRNNWeightSpaceSize(Handle*, const RnnDescriptor* rnn, std::size_t* bytes) {
  if (rnn == nullptr || bytes == nullptr) return Status::kBadParam;
  *bytes = static_cast<std::size_t>(static_cast<double>(weight_count(*rnn)) *
                                    bytes_of(number_type(rnn->type)));
  return Status::kSuccess;
}

Status cudnnGetRNNTempSpaceSizes(Handle*, const RnnDescriptor* rnn, ForwardMode mode, Data data,
                                 std::size_t* workspace, std::size_t* reserve) {
  if (rnn == nullptr || data == nullptr) return Status::kBadParam;
  if (workspace != nullptr) *workspace = workspace_bytes(*rnn, data->steps, data->batch);
  if (reserve != nullptr) {
    *reserve = mode == ForwardMode::kTraining ? reserve_bytes(*rnn, data->steps, data->batch) : 0;
  }
  return Status::kSuccess;
}

Status cudnnGetRNNWeightParams(Handle*, const RnnDescriptor* rnn, std::int32_t layer, std::size_t,
                               const void* weights, std::int32_t matrix,
                               TensorDescriptor* matrix_shape, void** matrix_address,
                               TensorDescriptor* bias_shape, void** bias_address) {
  if (rnn == nullptr || !valid_place(*rnn, layer, matrix)) return Status::kBadParam;
  give_place(*rnn, matrix_place(*rnn, layer, matrix), weights, matrix_shape, matrix_address);
  give_place(*rnn, bias_place(*rnn, layer, matrix), weights, bias_shape, bias_address);
  return Status::kSuccess;
}

Status cudnnRNNForward(Handle* handle, const RnnDescriptor* rnn, ForwardMode, const std::int32_t*,
                       Data x, const void*, Data, void*, Tensor, const void*, void*, Tensor,
                       const void*, void*, std::size_t, const void*, std::size_t, void*,
                       std::size_t, void*) {
  return run(handle, "emulated cudnnRNNForward", rnn, x);
}

Status cudnnRNNBackwardData_v8(Handle* handle, const RnnDescriptor* rnn, const std::int32_t*, Data,
                               const void*, const void*, Data x, void*, Tensor, const void*,
                               const void*, void*, Tensor, const void*, const void*, void*,
                               std::size_t, const void*, std::size_t, void*, std::size_t, void*) {
  return run(handle, "emulated cudnnRNNBackwardData", rnn, x);
}

Status cudnnRNNBackwardWeights_v8(Handle* handle, const RnnDescriptor* rnn, Choice,
                                  const std::int32_t*, Data x, const void*, Tensor, const void*,
                                  Data, const void*, std::size_t, void*, std::size_t, void*,
                                  std::size_t, void*) {
  return run(handle, "emulated cudnnRNNBackwardWeights", rnn, x);
}

}  // extern "C"
