#include "device/emulated/runtime/runtime_call.h"

/// Capturing what a stream is given into a graph.
namespace unstarve::emulated {
namespace {

using cuda::CaptureStatus;

CaptureStatus status_of(const CaptureState& state) {
  if (state.invalidated) return CaptureStatus::kInvalidated;
  return state.active ? CaptureStatus::kActive : CaptureStatus::kNone;
}

/// What cudaStreamGetCaptureInfo may be asked for; each may be nullptr.
struct CaptureInfo {
  CaptureStatus* status = nullptr;
  unsigned long long* id = nullptr;
  void** graph = nullptr;
  const void** nodes = nullptr;
  const void** edges = nullptr;
  std::size_t* node_count = nullptr;
};

Outcome describe(void* stream, const CaptureInfo& out) {
  if (out.status == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu&, Stream* found) {
    const CaptureState state = capture_of(found);
    *out.status = status_of(state);
    if (out.id != nullptr) *out.id = state.id;
    if (out.graph != nullptr) *out.graph = state.graph;
    // What the next node will depend on is not told: nodes are ours alone.
    if (out.nodes != nullptr) *out.nodes = nullptr;
    if (out.edges != nullptr) *out.edges = nullptr;
    if (out.node_count != nullptr) *out.node_count = 0;
    return Outcome::kSuccess;
  });
}

}  // namespace

UNSTARVE_CUDART cudaStreamBeginCapture(void* stream, int mode) {
  if (mode < 0 || mode > 2) return remember(Outcome::kInvalidValue);
  return remember(
      on_stream(stream, [&](Gpu& gpu, Stream* found) { return gpu.begin_capture(found, mode); }));
}

UNSTARVE_CUDART cudaStreamEndCapture(void* stream, void** graph) {
  if (graph == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_stream(stream, [&](Gpu& gpu, Stream* found) {
    Graph* captured = nullptr;
    const Outcome outcome = gpu.end_capture(found, &captured);
    *graph = outcome == Outcome::kSuccess ? captured : nullptr;
    return outcome;
  }));
}

UNSTARVE_CUDART cudaStreamIsCapturing(void* stream, CaptureStatus* status) {
  return remember(describe(stream, {status}));
}

#if UNSTARVE_CUDA_MAJOR >= 13
UNSTARVE_CUDART cudaStreamGetCaptureInfo(void* stream, CaptureStatus* status,
                                         unsigned long long* id, void** graph, const void** nodes,
                                         const void** edges, std::size_t* node_count) {
  return remember(describe(stream, {status, id, graph, nodes, edges, node_count}));
}
#else
UNSTARVE_CUDART cudaStreamGetCaptureInfo(void* stream, CaptureStatus* status,
                                         unsigned long long* id) {
  return remember(describe(stream, {status, id}));
}

UNSTARVE_CUDART cudaStreamGetCaptureInfo_v2(void* stream, CaptureStatus* status,
                                            unsigned long long* id, void** graph,
                                            const void** nodes, std::size_t* node_count) {
  return remember(describe(stream, {status, id, graph, nodes, nullptr, node_count}));
}

UNSTARVE_CUDART cudaStreamGetCaptureInfo_v3(void* stream, CaptureStatus* status,
                                            unsigned long long* id, void** graph,
                                            const void** nodes, const void** edges,
                                            std::size_t* node_count) {
  return remember(describe(stream, {status, id, graph, nodes, edges, node_count}));
}
#endif

UNSTARVE_CUDART cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return remember(Outcome::kInvalidValue);
  *mode = exchange_capture_mode(*mode);
  return Outcome::kSuccess;
}

}  // namespace unstarve::emulated
