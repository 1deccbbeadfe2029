#include "emulated/engine/capture.h"

#include <algorithm>

namespace unstarve::emulated {

std::uint32_t Capture::add_lane(int device) {
  program_.lanes.push_back({.device = device, .operations = {}});
  before_.emplace_back();
  last_node_.push_back(0);
  return static_cast<std::uint32_t>(program_.lanes.size() - 1);
}

void Capture::add(std::uint32_t lane, Operation operation) {
  operation.earliest_ns = 0;
  if (operation.engine == Engine::kGate) {
    operation.gate_number = static_cast<std::uint32_t>(program_.gates.size());
    program_.gates.push_back(operation.gate);
  }
  if (operation.engine == Engine::kHostFunction) ++program_.host_functions;
  if (operation.program) program_.host_functions += operation.program->host_functions;
  operation.activity.graph = program_.id;
  operation.activity.graph_node = ++nodes_;
  program_.lanes[lane].operations.push_back(std::move(operation));
  last_node_[lane] = program_.lanes[lane].operations.size();
}

Capture::Place Capture::place(std::uint32_t lane) const {
  Place place{
      .lane = lane, .position = program_.lanes[lane].operations.size(), .before = before_[lane]};
  place.before.resize(program_.lanes.size());
  place.before[lane] = place.position;
  return place;
}

void Capture::wait(std::uint32_t lane, const Place& place) {
  Before& before = before_[lane];
  before.resize(program_.lanes.size());
  for (std::size_t i = 0; i < place.before.size(); ++i) {
    before[i] = std::max(before[i], place.before[i]);
  }
  if (lane == place.lane) return;
  Operation wait;
  wait.engine = Engine::kWait;
  wait.wait_lane = place.lane;
  wait.wait_position = place.position;
  program_.lanes[lane].operations.push_back(wait);
}

bool Capture::joined_in(std::uint32_t lane) const {
  const Before& before = before_[lane];
  for (std::size_t i = 0; i < last_node_.size(); ++i) {
    if (i != lane && last_node_[i] > (i < before.size() ? before[i] : 0)) return false;
  }
  return true;
}

Program Capture::finish() && {
  for (const Program::Lane& lane : program_.lanes) {
    std::int64_t work_ns = 0;
    for (const Operation& operation : lane.operations) {
      work_ns += operation.gap_ns + operation.duration_ns;
    }
    program_.shortest_ns = std::max(program_.shortest_ns, work_ns);
  }
  return std::move(program_);
}

}  // namespace unstarve::emulated
