#include "emulated/driver/driver_call.h"

/// Capturing a stream into a graph, and graphs. Building one node by node is not supported.
namespace unstarve::emulated {
namespace {

using cuda::CaptureStatus;

Outcome describe(void* stream, CaptureStatus* status, std::uint64_t* id, void** graph) {
  if (status == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu&, Stream* found) {
    const CaptureState state = capture_of(found);
    *status = state.invalidated ? CaptureStatus::kInvalidated
                                : (state.active ? CaptureStatus::kActive : CaptureStatus::kNone);
    if (id != nullptr) *id = state.id;
    if (graph != nullptr) *graph = state.graph;
    return Outcome::kSuccess;
  });
}

}  // namespace

UNSTARVE_CUDA cuStreamBeginCapture_v2(void* stream, int mode) {
  if (mode < 0 || mode > 2) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu& gpu, Stream* found) { return gpu.begin_capture(found, mode); });
}

UNSTARVE_CUDA cuStreamEndCapture(void* stream, void** graph) {
  if (graph == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu& gpu, Stream* found) {
    Graph* captured = nullptr;
    const Outcome outcome = gpu.end_capture(found, &captured);
    *graph = outcome == Outcome::kSuccess ? captured : nullptr;
    return outcome;
  });
}

UNSTARVE_CUDA cuStreamIsCapturing(void* stream, CaptureStatus* status) {
  return describe(stream, status, nullptr, nullptr);
}

UNSTARVE_CUDA cuStreamGetCaptureInfo_v2(void* stream, CaptureStatus* status, std::uint64_t* id,
                                        void** graph, const void** nodes, std::size_t* count) {
  if (nodes != nullptr) *nodes = nullptr;
  if (count != nullptr) *count = 0;
  return describe(stream, status, id, graph);
}

UNSTARVE_CUDA cuStreamGetCaptureInfo_v3(void* stream, CaptureStatus* status, std::uint64_t* id,
                                        void** graph, const void** nodes, const void** edges,
                                        std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, nodes, count);
}

UNSTARVE_CUDA cuThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return Outcome::kInvalidValue;
  *mode = exchange_capture_mode(*mode);
  return Outcome::kSuccess;
}

UNSTARVE_CUDA cuGraphCreate(void** graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return Outcome::kInvalidValue;
  Graph* made = nullptr;
  const Outcome outcome = create_graph(&made);
  if (outcome == Outcome::kSuccess) *graph = made;
  return outcome;
}

UNSTARVE_CUDA cuGraphDestroy(void* graph) {
  return graph != nullptr ? destroy_graph(static_cast<Graph*>(graph)) : Outcome::kInvalidValue;
}

UNSTARVE_CUDA cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return Outcome::kInvalidValue;
  if (nodes != nullptr) {
    report_missing("cuda", "cuGraphGetNodes");
    return Outcome::kNotSupported;
  }
  *count = node_count(static_cast<Graph*>(graph));
  return Outcome::kSuccess;
}

UNSTARVE_CUDA cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  const DriverCall call(Call::kGraphInstantiate);
  if (executable == nullptr || graph == nullptr) return Outcome::kInvalidValue;
  GraphExec* made = nullptr;
  const Outcome outcome = instantiate(static_cast<Graph*>(graph), &made);
  if (outcome == Outcome::kSuccess) *executable = made;
  return outcome;
}

UNSTARVE_CUDA cuGraphUpload(void* executable, void* stream) {
  if (executable == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [](Gpu&, Stream*) { return Outcome::kSuccess; });
}

UNSTARVE_CUDA cuGraphLaunch(void* executable, void* stream) {
  const DriverCall call(Call::kGraphLaunch);
  if (executable == nullptr) return Outcome::kInvalidValue;
  return on_stream(stream, [&](Gpu&, Stream* found) {
    return launch_graph(static_cast<GraphExec*>(executable), found);
  });
}

UNSTARVE_CUDA cuGraphExecDestroy(void* executable) {
  if (executable == nullptr) return Outcome::kInvalidValue;
  return destroy_graph_exec(static_cast<GraphExec*>(executable));
}

}  // namespace unstarve::emulated
