#include "emulated/cudnn/rnn.h"

// Recurrent networks as of the interface that cuDNN 8 has beside its own, and cuDNN 9 no more:
// sizes come with the tensors, one descriptor for each step.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

/// The network with the size and the type of what goes in, which the first step's tensor says.
bool with_input(const RnnDescriptor* rnn, Tensor x, RnnDescriptor* sized) {
  if (rnn == nullptr || x == nullptr || x->count < 2) return false;
  *sized = *rnn;
  sized->input_size = x->sizes[1];
  sized->type = x->type;
  return true;
}

/// The network and the steps that run; their batches may shrink.
struct Sequence {
  RnnDescriptor rnn;
  RnnDataDescriptor data;
};

bool describe(const RnnDescriptor* rnn, int steps, const Tensor* x, Sequence* sequence) {
  if (steps < 1 || x == nullptr || !with_input(rnn, x[0], &sequence->rnn)) return false;
  sequence->data = {x[0]->type, steps, x[0]->sizes[0], x[0]->sizes[1]};
  return true;
}

Status run(Handle* handle, const char* name, const RnnDescriptor* rnn, int steps, const Tensor* x) {
  Sequence sequence;
  if (!describe(rnn, steps, x, &sequence)) return Status::kBadParam;
  return run_rnn(handle, name, sequence.rnn, sequence.data);
}

struct Weights {
  const void* base;
  FilterDescriptor* shape;
  void** address;
};

Status give_place(const RnnDescriptor& rnn, const WeightPlace& place, const Weights& weights) {
  if (weights.shape == nullptr || weights.address == nullptr) return Status::kBadParam;
  const bool there = place.columns > 0;
  weights.shape->type = rnn.type;
  weights.shape->count = 3;
  weights.shape->sizes = {1, there ? place.rows : 0, place.columns};
  const auto bytes = static_cast<std::uintptr_t>(static_cast<double>(place.offset) *
                                                 bytes_of(number_type(rnn.type)));
  *weights.address =
      there ? reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(weights.base) + bytes)
            : nullptr;
  return Status::kSuccess;
}

}  // namespace

extern "C" {

Status cudnnSetRNNDescriptor_v6(Handle*, RnnDescriptor* rnn, int hidden_size, int layers,
                                DropoutDescriptor*, InputMode input, Direction direction,
                                RnnMode mode, Choice, Type type) {
  if (rnn == nullptr || hidden_size < 1 || layers < 1) return Status::kBadParam;
  *rnn = {.mode = mode,
          .direction = direction,
          .input = input,
          .type = type,
          .hidden_size = hidden_size,
          .layers = layers};
  return Status::kSuccess;
}

Status cudnnSetRNNProjectionLayers(Handle*, RnnDescriptor* rnn, int state_size, int) {
  if (rnn == nullptr || state_size < 0) return Status::kBadParam;
  rnn->projection_size = state_size;
  return Status::kSuccess;
}

Status cudnnSetRNNMatrixMathType(RnnDescriptor* rnn, MathType math) {
  if (rnn == nullptr) return Status::kBadParam;
  rnn->math = math;
  return Status::kSuccess;
}

Status cudnnGetRNNParamsSize(Handle*, const RnnDescriptor* rnn, Tensor x, std::size_t* bytes,
                             Type type) {
  RnnDescriptor sized;
  if (bytes == nullptr || !with_input(rnn, x, &sized)) return Status::kBadParam;
  *bytes = static_cast<std::size_t>(static_cast<double>(weight_count(sized)) *
                                    bytes_of(number_type(type)));
  return Status::kSuccess;
}

Status cudnnGetRNNWorkspaceSize(Handle*, const RnnDescriptor* rnn, int steps, const Tensor* x,
                                std::size_t* bytes) {
  Sequence sequence;
  if (bytes == nullptr || !describe(rnn, steps, x, &sequence)) return Status::kBadParam;
  *bytes = workspace_bytes(sequence.rnn, steps, sequence.data.batch);
  return Status::kSuccess;
}

Status cudnnGetRNNTrainingReserveSize(Handle*, const RnnDescriptor* rnn, int steps, const Tensor* x,
                                      std::size_t* bytes) {
  Sequence sequence;
  if (bytes == nullptr || !describe(rnn, steps, x, &sequence)) return Status::kBadParam;
  *bytes = reserve_bytes(sequence.rnn, steps, sequence.data.batch);
  return Status::kSuccess;
}

Status cudnnGetRNNLinLayerMatrixParams(Handle*, const RnnDescriptor* rnn, int layer, Tensor x,
                                       const FilterDescriptor*, const void* weights, int matrix,
                                       FilterDescriptor* shape, void** address) {
  RnnDescriptor sized;
  if (!with_input(rnn, x, &sized) || !valid_place(sized, layer, matrix)) return Status::kBadParam;
  return give_place(sized, matrix_place(sized, layer, matrix), {weights, shape, address});
}

Status cudnnGetRNNLinLayerBiasParams(Handle*, const RnnDescriptor* rnn, int layer, Tensor x,
                                     const FilterDescriptor*, const void* weights, int matrix,
                                     FilterDescriptor* shape, void** address) {
  RnnDescriptor sized;
  if (!with_input(rnn, x, &sized) || !valid_place(sized, layer, matrix)) return Status::kBadParam;
  return give_place(sized, bias_place(sized, layer, matrix), {weights, shape, address});
}

Status cudnnRNNForwardInference(Handle* handle, const RnnDescriptor* rnn, int steps,
                                const Tensor* x, const void*, Tensor, const void*, Tensor,
                                const void*, const FilterDescriptor*, const void*, const Tensor*,
                                void*, Tensor, void*, Tensor, void*, void*, std::size_t) {
  return run(handle, "emulated cudnnRNNForwardInference", rnn, steps, x);
}

Status cudnnRNNForwardTraining(Handle* handle, const RnnDescriptor* rnn, int steps, const Tensor* x,
                               const void*, Tensor, const void*, Tensor, const void*,
                               const FilterDescriptor*, const void*, const Tensor*, void*, Tensor,
                               void*, Tensor, void*, void*, std::size_t, void*, std::size_t) {
  return run(handle, "emulated cudnnRNNForwardTraining", rnn, steps, x);
}

Status cudnnRNNBackwardData(Handle* handle, const RnnDescriptor* rnn, int steps, const Tensor*,
                            const void*, const Tensor*, const void*, Tensor, const void*, Tensor,
                            const void*, const FilterDescriptor*, const void*, Tensor, const void*,
                            Tensor, const void*, const Tensor* dx, void*, Tensor, void*, Tensor,
                            void*, void*, std::size_t, void*, std::size_t) {
  return run(handle, "emulated cudnnRNNBackwardData", rnn, steps, dx);
}

Status cudnnRNNBackwardWeights(Handle* handle, const RnnDescriptor* rnn, int steps, const Tensor* x,
                               const void*, Tensor, const void*, const Tensor*, const void*,
                               const void*, std::size_t, const FilterDescriptor*, void*,
                               const void*, std::size_t) {
  return run(handle, "emulated cudnnRNNBackwardWeights", rnn, steps, x);
}

}  // extern "C"
