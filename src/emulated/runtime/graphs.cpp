#include <cstdio>

#include "emulated/runtime/runtime_call.h"
#include "emulated/runtime/user_objects.h"

/// Capturing what a stream is given, and graphs. Building one node by node is not supported.
namespace unstarve::emulated {
namespace {

Graph* graph_of(void* handle) { return static_cast<Graph*>(handle); }

Outcome make_executable(void** out, void* graph) {
  if (out == nullptr || graph == nullptr) return Outcome::kInvalidValue;
  return on_gpu([&](Gpu&) {
    GraphExec* made = nullptr;
    const Outcome outcome = instantiate(graph_of(graph), &made);
    if (outcome != Outcome::kSuccess) return outcome;
    *out = made;
    share_user_objects(graph, made);
    return outcome;
  });
}

Outcome missing(const char* function) {
  report_missing("cudart", function);
  return remember(Outcome::kNotSupported);
}

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

UNSTARVE_CUDART cudaGraphCreate(void** graph, unsigned) {
  if (graph == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_gpu([&](Gpu&) {
    Graph* made = nullptr;
    const Outcome outcome = create_graph(&made);
    if (outcome == Outcome::kSuccess) *graph = made;
    return outcome;
  }));
}

UNSTARVE_CUDART cudaGraphDestroy(void* graph) {
  if (graph == nullptr) return remember(Outcome::kInvalidValue);
  release_user_objects(graph);
  return remember(destroy_graph(graph_of(graph)));
}

UNSTARVE_CUDART cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return remember(Outcome::kInvalidValue);
  if (nodes != nullptr) return missing("cudaGraphGetNodes");
  *count = node_count(graph_of(graph));
  return Outcome::kSuccess;
}

UNSTARVE_CUDART cudaGraphInstantiate(void** executable, void* graph, unsigned long long) {
  const ApiCall call(Call::kGraphInstantiate);
  return remember(make_executable(executable, graph));
}

UNSTARVE_CUDART cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  const ApiCall call(Call::kGraphInstantiate);
  return remember(make_executable(executable, graph));
}

UNSTARVE_CUDART cudaGraphUpload(void* executable, void* stream) {
  if (executable == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_stream(stream, [](Gpu&, Stream*) { return Outcome::kSuccess; }));
}

UNSTARVE_CUDART cudaGraphLaunch(void* executable, void* stream) {
  const ApiCall call(Call::kGraphLaunch);
  if (executable == nullptr) return remember(Outcome::kInvalidValue);
  return remember(on_stream(stream, [&](Gpu&, Stream* found) {
    return launch_graph(static_cast<GraphExec*>(executable), found);
  }));
}

UNSTARVE_CUDART cudaGraphExecDestroy(void* executable) {
  if (executable == nullptr) return remember(Outcome::kInvalidValue);
  release_user_objects(executable);
  return remember(destroy_graph_exec(static_cast<GraphExec*>(executable)));
}

UNSTARVE_CUDART cudaGraphDebugDotPrint(void* graph, const char* path, unsigned) {
  if (graph == nullptr || path == nullptr) return remember(Outcome::kInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return remember(Outcome::kOperatingSystem);
  std::fprintf(file, "digraph emulated {\n  // %zu nodes\n}\n", node_count(graph_of(graph)));
  return remember(std::fclose(file) == 0 ? Outcome::kSuccess : Outcome::kOperatingSystem);
}

UNSTARVE_CUDART cudaGraphConditionalHandleCreate(unsigned long long*, void*, unsigned, unsigned) {
  return missing("cudaGraphConditionalHandleCreate");
}

UNSTARVE_CUDART cudaDeviceGetGraphMemAttribute(int device, int, std::uint64_t* value) {
  // Graphs allocate nothing of their own here.
  return remember(on_device(device, [&](Gpu&) { return answer(value, std::uint64_t{0}); }));
}

UNSTARVE_CUDART cudaDeviceSetGraphMemAttribute(int device, int, const std::uint64_t* value) {
  return remember(on_device(device, [&](Gpu&) {
    return value != nullptr && *value == 0 ? Outcome::kSuccess : Outcome::kInvalidValue;
  }));
}

UNSTARVE_CUDART cudaDeviceGraphMemTrim(int device) {
  return remember(on_device(device, [](Gpu&) { return Outcome::kSuccess; }));
}

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
