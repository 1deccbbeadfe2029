#include <algorithm>

#include "emulated/process/process_gpu.h"
#include "emulated/process/records/recorder_state.h"

// Stream capture and graphs.
namespace unstarve::emulated {

void ProcessGpu::add_to_capture(Stream& stream, Operation operation, const DataEffect* effect) {
  Capturing& capturing = *stream.capturing;
  // Within a graph the device itself goes on to the next kernel.
  if (operation.gap_ns > 0) operation.gap_ns = profile().graph_gap_ns;
  capturing.nodes.add(stream.capture_lane, std::move(operation));
  if (effect != nullptr) capturing.effects.push_back(*effect);
}

Outcome ProcessGpu::begin_capture(Stream* stream, int mode) {
  use();
  if (mode < 0 || mode > 2) return Outcome::kInvalidValue;
  if (stream->legacy) return Outcome::kCaptureUnsupported;
  MutexLock lock(machine_.mutex);
  if (stream->capturing) return Outcome::kIllegalState;
  auto capturing = std::make_shared<Capturing>(++machine_.last_graph_id);
  capturing->mode = mode;
  capturing->thread = thread_id();
  capturing->graph = new Graph;
  capturing->graph->id = capturing->id;
  capturing->origin = stream;
  capturing->streams.push_back(stream);
  stream->capture_lane = capturing->nodes.add_lane(stream->gpu);
  stream->capturing = capturing;
  machine_.captures.push_back(std::move(capturing));
  return Outcome::kSuccess;
}

Outcome ProcessGpu::end_capture(Stream* stream, Graph** out) {
  *out = nullptr;
  MutexLock lock(machine_.mutex);
  const std::shared_ptr<Capturing> capturing = stream->capturing;
  if (!capturing) return Outcome::kIllegalState;
  if (capturing->origin != stream) return Outcome::kCaptureUnmatched;
  // In relaxed mode another thread may end it.
  if (capturing->mode != 2 && capturing->thread != thread_id()) {
    return Outcome::kCaptureWrongThread;
  }
  for (Stream* each : capturing->streams) each->capturing.reset();
  std::erase(machine_.captures, capturing);
  capturing->ended = true;
  Graph* graph = capturing->graph;
  Outcome outcome = Outcome::kSuccess;
  if (capturing->invalidated) {
    outcome = Outcome::kCaptureInvalidated;
  } else if (!capturing->nodes.joined_in(stream->capture_lane)) {
    outcome = Outcome::kCaptureUnjoined;
  }
  if (outcome != Outcome::kSuccess) {
    delete graph;
    return outcome;
  }
  graph->nodes = capturing->nodes.node_count();
  graph->effects = std::move(capturing->effects);
  graph->program = std::make_shared<const Program>(std::move(capturing->nodes).finish());
  *out = graph;
  return Outcome::kSuccess;
}

CaptureState capture_of(const Stream* stream) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return {};
  MutexLock lock(machine->mutex);
  if (!stream->capturing) return {};
  return {.active = true,
          .invalidated = stream->capturing->invalidated,
          .id = stream->capturing->id,
          .graph = stream->capturing->graph};
}

// ---- graphs

Outcome create_graph(Graph** out) {
  Machine* machine = Machine::get();
  if (machine == nullptr) return usable();
  MutexLock lock(machine->mutex);
  *out = new Graph;
  (*out)->id = ++machine->last_graph_id;
  return Outcome::kSuccess;
}

Outcome destroy_graph(Graph* graph) {
  if (graph == nullptr) return Outcome::kInvalidValue;
  delete graph;
  return Outcome::kSuccess;
}

std::size_t node_count(const Graph* graph) { return graph->nodes; }

Outcome instantiate(const Graph* graph, GraphExec** out) {
  if (graph == nullptr) return Outcome::kInvalidValue;
  auto* exec = new GraphExec;
  exec->program = graph->program ? graph->program : std::make_shared<const Program>();
  exec->effects = graph->effects;
  *out = exec;
  return Outcome::kSuccess;
}

Outcome launch_graph(GraphExec* exec, Stream* stream) {
  Machine* machine = Machine::existing();
  if (machine == nullptr) return usable();
  if (exec == nullptr) return Outcome::kInvalidValue;
  Operation operation;
  operation.engine = Engine::kGraph;
  operation.program = exec->program;
  operation.gap_ns = machine->profile().kernel_gap_ns;
  if (!exec->program->gates.empty()) {
    std::vector<std::shared_ptr<Gate>> gates;
    for (const auto& gate : exec->program->gates) gates.push_back(gate->again());
    operation.gates = std::make_shared<const std::vector<std::shared_ptr<Gate>>>(std::move(gates));
  }
  ProcessGpu* gpu = machine->gpu(stream->gpu);
  {
    MutexLock lock(machine->mutex);
    // The ranks of a collective meet anew at each launch; within another graph none is told.
    if (stream->capturing && !exec->program->gates.empty()) return Outcome::kNotSupported;
    if (exec->launched && !stream->capturing && exec->last_lane != stream->lane) {
      machine->schedule.wait(stream->lane,
                             {.lane = exec->last_lane, .position = exec->last_position});
    }
  }
  const Outcome outcome = gpu->submit(stream, operation, nullptr);
  if (outcome != Outcome::kSuccess) return outcome;
  {
    MutexLock lock(machine->mutex);
    if (stream->capturing) return outcome;
    exec->launched = true;
    exec->last_lane = stream->lane;
    exec->last_position = machine->schedule.enqueued(stream->lane);
  }
  for (const DataEffect& effect : exec->effects) machine->memory.apply(effect);
  return Outcome::kSuccess;
}

Outcome destroy_graph_exec(GraphExec* exec) {
  if (exec == nullptr) return Outcome::kInvalidValue;
  delete exec;  // launches of it that have not ended keep the program
  return Outcome::kSuccess;
}

}  // namespace unstarve::emulated
