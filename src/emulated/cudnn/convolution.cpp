#include <algorithm>

#include "emulated/cudnn/descriptors.h"
#include "emulated/cudnn/handle.h"

// Convolutions as layers: by descriptors, and with an algorithm that programs choose or let find.
// An emulated one has a single algorithm for each pass, which needs no workspace.

using namespace unstarve::emulated;
using namespace unstarve::emulated::cudnn;

namespace {

/// Algorithms that are deterministic, of the numbers that headers call ..._ALGO_1.
constexpr Choice kAlgorithm = 1;

struct Shapes {
  const TensorDescriptor* input;
  const FilterDescriptor* filter;
  const ConvolutionDescriptor* convolution;
  const TensorDescriptor* output;

  bool complete() const {
    return input != nullptr && filter != nullptr && convolution != nullptr && output != nullptr &&
           input->count >= 3 && input->count <= 5 && filter->count == input->count &&
           output->count == input->count;
  }
};

ConvolutionWork describe(ConvolutionPass pass, const Shapes& shapes) {
  ConvolutionWork work;
  work.pass = pass;
  work.batch = shapes.input->sizes[0];
  work.input_channels = shapes.input->sizes[1];
  work.output_channels = shapes.output->sizes[1];
  work.groups = shapes.convolution->groups;
  work.spatial = shapes.input->count - 2;
  for (std::size_t i = 0; i < static_cast<std::size_t>(work.spatial); ++i) {
    work.input[i] = shapes.input->sizes[i + 2];
    work.filter[i] = shapes.filter->sizes[i + 2];
    work.output[i] = shapes.output->sizes[i + 2];
    work.stride[i] = std::max(1, shapes.convolution->strides[i]);
  }
  work.type = number_type(shapes.input->type);
  work.tf32 = shapes.convolution->math != MathType::kFma;
  work.channels_last = shapes.input->format == Format::kNhwc;
  return work;
}

Status convolve(Handle* handle, const char* name, ConvolutionPass pass, const Shapes& shapes) {
  if (handle == nullptr || !shapes.complete()) return Status::kBadParam;
  return status_of(submit(handle->target, name, describe(pass, shapes)));
}

struct Found {
  int room;
  int* count;
  AlgorithmPerformance* results;
};

Status find(const Shapes& shapes, const Found& found) {
  if (!shapes.complete() || found.room < 1 || found.count == nullptr || found.results == nullptr) {
    return Status::kBadParam;
  }
  found.results[0] = {};
  found.results[0].algorithm = kAlgorithm;
  found.results[0].math = shapes.convolution->math;
  *found.count = 1;
  return Status::kSuccess;
}

/// Finding runs each algorithm: the one there is, timed.
Status find_by_running(Handle* handle, const char* name, ConvolutionPass pass, const Shapes& shapes,
                       const Found& found) {
  if (const Status status = find(shapes, found); status != Status::kSuccess) return status;
  const std::int64_t start_ns = now_ns();
  if (const Status status = convolve(handle, name, pass, shapes); status != Status::kSuccess) {
    return status;
  }
  const Outcome outcome = wait_for_zeros(handle->target, nullptr, 0);
  found.results[0].time_ms = static_cast<float>(now_ns() - start_ns) * 1e-6F;
  return status_of(outcome);
}

Status no_workspace(const Shapes& shapes, std::size_t* bytes) {
  if (!shapes.complete() || bytes == nullptr) return Status::kBadParam;
  *bytes = 0;
  return Status::kSuccess;
}

constexpr const char* kForwardName = "emulated cudnnConvolutionForward";
constexpr const char* kDataName = "emulated cudnnConvolutionBackwardData";
constexpr const char* kFilterName = "emulated cudnnConvolutionBackwardFilter";
constexpr auto kForward = ConvolutionPass::kForward;
constexpr auto kData = ConvolutionPass::kInputGradient;
constexpr auto kFilter = ConvolutionPass::kWeightGradient;

}  // namespace

extern "C" {

Status cudnnConvolutionForward(Handle* handle, const void*, Tensor x, const void*, Filter w,
                               const void*, Convolution convolution, Choice, void*, std::size_t,
                               const void*, Tensor y, void*) {
  return convolve(handle, kForwardName, kForward, {x, w, convolution, y});
}

Status cudnnConvolutionBiasActivationForward(Handle* handle, const void*, Tensor x, const void*,
                                             Filter w, const void*, Convolution convolution, Choice,
                                             void*, std::size_t, const void*, Tensor, const void*,
                                             Tensor, const void*, const ActivationDescriptor*,
                                             Tensor y, void*) {
  return convolve(handle, "emulated cudnnConvolutionBiasActivationForward", kForward,
                  {x, w, convolution, y});
}

Status cudnnConvolutionBackwardData(Handle* handle, const void*, Filter w, const void*, Tensor dy,
                                    const void*, Convolution convolution, Choice, void*,
                                    std::size_t, const void*, Tensor dx, void*) {
  return convolve(handle, kDataName, kData, {dx, w, convolution, dy});
}

Status cudnnConvolutionBackwardFilter(Handle* handle, const void*, Tensor x, const void*, Tensor dy,
                                      const void*, Convolution convolution, Choice, void*,
                                      std::size_t, const void*, Filter dw, void*) {
  return convolve(handle, kFilterName, kFilter, {x, dw, convolution, dy});
}

Status cudnnGetConvolutionForwardAlgorithm_v7(Handle*, Tensor x, Filter w, Convolution convolution,
                                              Tensor y, int room, int* count,
                                              AlgorithmPerformance* results) {
  return find({x, w, convolution, y}, {room, count, results});
}

Status cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle*, Filter w, Tensor dy,
                                                   Convolution convolution, Tensor dx, int room,
                                                   int* count, AlgorithmPerformance* results) {
  return find({dx, w, convolution, dy}, {room, count, results});
}

Status cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle*, Tensor x, Tensor dy,
                                                     Convolution convolution, Filter dw, int room,
                                                     int* count, AlgorithmPerformance* results) {
  return find({x, dw, convolution, dy}, {room, count, results});
}

Status cudnnFindConvolutionForwardAlgorithmEx(Handle* handle, Tensor x, const void*, Filter w,
                                              const void*, Convolution convolution, Tensor y, void*,
                                              int room, int* count, AlgorithmPerformance* results,
                                              void*, std::size_t) {
  return find_by_running(handle, kForwardName, kForward, {x, w, convolution, y},
                         {room, count, results});
}

Status cudnnFindConvolutionBackwardDataAlgorithmEx(Handle* handle, Filter w, const void*, Tensor dy,
                                                   const void*, Convolution convolution, Tensor dx,
                                                   void*, int room, int* count,
                                                   AlgorithmPerformance* results, void*,
                                                   std::size_t) {
  return find_by_running(handle, kDataName, kData, {dx, w, convolution, dy},
                         {room, count, results});
}

Status cudnnFindConvolutionBackwardFilterAlgorithmEx(
    Handle* handle, Tensor x, const void*, Tensor dy, const void*, Convolution convolution,
    Filter dw, void*, int room, int* count, AlgorithmPerformance* results, void*, std::size_t) {
  return find_by_running(handle, kFilterName, kFilter, {x, dw, convolution, dy},
                         {room, count, results});
}

Status cudnnGetConvolutionForwardWorkspaceSize(Handle*, Tensor x, Filter w, Convolution convolution,
                                               Tensor y, Choice, std::size_t* bytes) {
  return no_workspace({x, w, convolution, y}, bytes);
}

Status cudnnGetConvolutionBackwardDataWorkspaceSize(Handle*, Filter w, Tensor dy,
                                                    Convolution convolution, Tensor dx, Choice,
                                                    std::size_t* bytes) {
  return no_workspace({dx, w, convolution, dy}, bytes);
}

Status cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle*, Tensor x, Tensor dy,
                                                      Convolution convolution, Filter dw, Choice,
                                                      std::size_t* bytes) {
  return no_workspace({x, dw, convolution, dy}, bytes);
}

}  // extern "C"
