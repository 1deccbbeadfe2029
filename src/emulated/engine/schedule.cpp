#include "emulated/engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace unstarve::emulated {

namespace {

constexpr std::int64_t kNever = INT64_MAX;
constexpr std::int64_t kNotWaiting = INT64_MIN;
// What is left of an operation by rounding when it should have ended.
constexpr double kNothingLeftNs = 1e-3;
// So many streams that wait for each other are followed to find out when an operation can end.
constexpr int kWaitsFollowed = 4;

bool is_copy(Engine engine) {
  return engine == Engine::kCopyToDevice || engine == Engine::kCopyToHost ||
         engine == Engine::kCopyToPeer;
}

}  // namespace

Schedule::Schedule(int devices) : devices_(index(devices)) {}
Schedule::~Schedule() = default;

std::size_t Schedule::copy_index(Engine engine) {
  return static_cast<std::size_t>(engine) - static_cast<std::size_t>(Engine::kCopyToDevice);
}

LaneId Schedule::add_lane(int device, LaneOrder order) {
  LaneId id = 0;
  if (free_lanes_.empty()) {
    id = static_cast<LaneId>(lanes_.size());
    lanes_.emplace_back();
  } else {
    id = free_lanes_.back();
    free_lanes_.pop_back();
  }
  Lane& lane = lanes_[id];
  lane.device = device;
  lane.order = order;
  lane.released = false;
  lane.default_waits_to = 0;
  lane.waits_default_to = 0;
  lane.track.lane = id;
  lane.track.device = device;
  if (order == LaneOrder::kLegacy) {
    devices_[index(device)].legacy = id;
    devices_[index(device)].has_legacy = true;
  }
  return id;
}

void Schedule::release_lane(LaneId lane) {
  lanes_[lane].released = true;
  if (lanes_[lane].queue.empty() && !lanes_[lane].track.active) free_lanes_.push_back(lane);
}

void Schedule::enqueue(LaneId lane, const Operation& operation) {
  order_with_default(lane);
  push(lane, operation);
}

std::shared_ptr<Mark> Schedule::mark(LaneId lane, std::int64_t earliest_ns) {
  order_with_default(lane);
  auto mark = std::make_shared<Mark>();
  mark->lane = lane;
  mark->position = lanes_[lane].enqueued + 1;
  push(lane, {.engine = Engine::kMark, .earliest_ns = earliest_ns, .mark = mark});
  return mark;
}

void Schedule::wait(LaneId lane, const Mark& mark) {
  if (mark.done_ns >= 0 || done(mark.lane, mark.position)) return;
  push(lane, {.engine = Engine::kWait, .wait_lane = mark.lane, .wait_position = mark.position});
}

void Schedule::order_with_default(LaneId id) {
  Lane& lane = lanes_[id];
  const Device& device = devices_[index(lane.device)];
  if (lane.order == LaneOrder::kBlocking && device.has_legacy) {
    const Lane& legacy = lanes_[device.legacy];
    if (legacy.enqueued == legacy.ended || lane.waits_default_to == legacy.enqueued) return;
    lane.waits_default_to = legacy.enqueued;
    push(id,
         {.engine = Engine::kWait, .wait_lane = device.legacy, .wait_position = legacy.enqueued});
  }
  if (lane.order != LaneOrder::kLegacy) return;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Track& track = *active_[i];
    Lane& other = lanes_[track.lane];
    if (track.graph != nullptr || other.order != LaneOrder::kBlocking ||
        other.device != lane.device || other.default_waits_to == other.enqueued) {
      continue;
    }
    other.default_waits_to = other.enqueued;
    push(id, {.engine = Engine::kWait, .wait_lane = track.lane, .wait_position = other.enqueued});
  }
}

void Schedule::push(LaneId id, Operation operation) {
  Lane& lane = lanes_[id];
  lane.work_ns += operation.gap_ns + operation.duration_ns;
  if (operation.program) lane.work_ns += operation.program->shortest_ns;
  operation.work_until_ns = lane.work_ns;
  lane.queue.push(operation);
  ++lane.enqueued;
  activate(lane.track);
}

void Schedule::activate(Track& track) {
  if (track.active) return;
  track.active = true;
  active_.push_back(&track);
}

std::uint64_t Schedule::pending(LaneId lane) const {
  return lanes_[lane].enqueued - lanes_[lane].ended;
}

bool Schedule::idle(int device) const {
  return std::none_of(active_.begin(), active_.end(),
                      [device](const Track* track) { return track->device == device; });
}

std::vector<LaneId> Schedule::busy_lanes(int device) const {
  std::vector<LaneId> lanes;
  for (const Track* track : active_) {
    if (track->graph == nullptr && track->device == device) lanes.push_back(track->lane);
  }
  return lanes;
}

const Operation* Schedule::head(const Track& track) const {
  if (track.graph != nullptr) {
    const auto lane = static_cast<std::size_t>(&track - track.graph->tracks.data());
    const std::vector<Operation>& operations = track.graph->program->lanes[lane].operations;
    return track.cursor < operations.size() ? &operations[track.cursor] : nullptr;
  }
  const Fifo<Operation>& queue = lanes_[track.lane].queue;
  return queue.empty() ? nullptr : &queue[0];
}

bool Schedule::place_reached(const Track& track, const Operation& wait) const {
  if (track.graph != nullptr) {
    return track.graph->tracks[wait.wait_lane].cursor >= wait.wait_position;
  }
  return done(wait.wait_lane, wait.wait_position);
}

std::int64_t Schedule::ready_at(const Track& track, const Operation& operation) const {
  return std::max(operation.earliest_ns, track.last_end_ns + operation.gap_ns);
}

void Schedule::advance(std::int64_t now_ns) {
  for (;;) {
    while (start_ready()) {
    }
    if (open_gates_ > 0) ask_gates();
    start_copies();
    set_rates();
    if (some_finished_) drop_finished();
    const std::int64_t next_ns = next_change_ns();
    if (next_ns > now_ns) break;
    progress(next_ns);
    retire_finished();
  }
  if (now_ns > time_ns_) progress(now_ns);
}

/// Starts whatever can start now; true if something ended at once by that, so that more may start.
bool Schedule::start_ready() {
  bool ended = false;
  for (std::size_t i = 0; i < active_.size(); ++i) ended |= start(*active_[i]);
  return ended;
}

bool Schedule::start(Track& track) {
  bool ended = false;
  while (!track.running) {
    const Operation* operation = head(track);
    if (operation == nullptr) break;
    if (operation->engine == Engine::kWait) {
      if (!place_reached(track, *operation)) {
        track.waits_since_ns = time_ns_;
        break;
      }
    } else if (ready_at(track, *operation) > time_ns_) {
      break;
    } else if (is_copy(operation->engine)) {
      if (track.waits_since_ns == kNotWaiting) track.waits_since_ns = time_ns_;
      break;
    } else if (operation->engine != Engine::kMark) {
      run(track, *operation);
      break;
    }
    retire(track);
    ended = true;
  }
  return ended;
}

void Schedule::run(Track& track, const Operation& operation) {
  track.running = true;
  track.waits_since_ns = kNotWaiting;
  track.start_ns = time_ns_;
  if (!operation.continues) track.chain_start_ns = time_ns_;
  track.remaining_ns = static_cast<double>(operation.duration_ns);
  if (operation.engine == Engine::kCompute) {
    track.remaining_ns *= devices_[index(track.device)].scale;
  }
  if (operation.engine == Engine::kHostFunction) {
    track.open_ended = true;
    track.host_function = ++last_host_function_;
    due_.push_back({track.host_function, operation.host});
  }
  if (operation.engine == Engine::kGate) {
    track.open_ended = true;
    track.gate =
        track.graph == nullptr ? operation.gate : (*track.graph->gates)[operation.gate_number];
    ++open_gates_;
  }
  if (operation.engine == Engine::kGraph) start_graph(track, operation);
}

void Schedule::ask_gates() {
  for (Track* track : active_) {
    if (!track->gate) continue;
    const std::optional<std::int64_t> end_ns = track->gate->ask(track->start_ns);
    if (!end_ns) continue;
    track->remaining_ns = static_cast<double>(std::max<std::int64_t>(0, *end_ns - time_ns_));
    track->open_ended = false;
    track->gate.reset();
    --open_gates_;
  }
}

void Schedule::start_graph(Track& track, const Operation& operation) {
  auto graph = std::make_unique<GraphRun>();
  graph->program = operation.program;
  graph->parent = &track;
  graph->correlation =
      track.graph == nullptr ? operation.activity.correlation : track.graph->correlation;
  graph->gates = operation.gates;
  graph->tracks.resize(operation.program->lanes.size());
  for (std::size_t i = 0; i < graph->tracks.size(); ++i) {
    if (operation.program->lanes[i].operations.empty()) continue;
    Track& lane = graph->tracks[i];
    lane.lane = track.lane;
    lane.device = operation.program->lanes[i].device;
    lane.graph = graph.get();
    ++graph->unfinished;
    activate(lane);
  }
  track.open_ended = graph->unfinished > 0;
  if (track.open_ended) graphs_.push_back(std::move(graph));
}

void Schedule::start_copies() {
  for (Device& device : devices_) {
    for (const Engine engine : {Engine::kCopyToDevice, Engine::kCopyToHost, Engine::kCopyToPeer}) {
      if (device.copying[copy_index(engine)] == nullptr) start_copy(device, engine);
    }
  }
}

void Schedule::start_copy(Device& device, Engine engine) {
  Track* first = nullptr;
  for (Track* track : active_) {
    if (track->running || track->waits_since_ns == kNotWaiting ||
        &devices_[index(track->device)] != &device || head(*track)->engine != engine) {
      continue;
    }
    if (first == nullptr || track->waits_since_ns < first->waits_since_ns) first = track;
  }
  if (first == nullptr) return;
  device.copying[copy_index(engine)] = first;
  run(*first, *head(*first));
}

void Schedule::set_rates() {
  for (Device& device : devices_) device.rate = 0;
  for (const Track* track : active_) {
    if (!track->running || track->open_ended) continue;
    const Operation& operation = *head(*track);
    if (operation.engine != Engine::kCompute) continue;
    devices_[index(track->device)].rate += static_cast<double>(operation.share);
  }
  for (Device& device : devices_) {
    device.rate = 1 / (std::max(1.0, device.rate) * (1 + device.others));
  }
}

std::int64_t Schedule::change_of(const Track& track) const {
  const Operation* operation = head(track);
  if (operation == nullptr || track.open_ended) return kNever;
  if (!track.running) {
    if (track.waits_since_ns != kNotWaiting) return kNever;
    return std::max(time_ns_, ready_at(track, *operation));
  }
  const double rate =
      operation->engine == Engine::kCompute ? devices_[index(track.device)].rate : 1;
  return time_ns_ + std::llround(std::ceil(std::max(0.0, track.remaining_ns / rate)));
}

std::int64_t Schedule::next_change_ns() const {
  std::int64_t next_ns = kNever;
  for (const Track* track : active_) next_ns = std::min(next_ns, change_of(*track));
  return next_ns;
}

void Schedule::progress(std::int64_t to_ns) {
  const auto passed_ns = static_cast<double>(to_ns - time_ns_);
  time_ns_ = to_ns;
  for (Track* track : active_) {
    if (!track->running || track->open_ended) continue;
    const bool compute = head(*track)->engine == Engine::kCompute;
    track->remaining_ns -= passed_ns * (compute ? devices_[index(track->device)].rate : 1);
  }
}

void Schedule::retire_finished() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    Track& track = *active_[i];
    if (track.running && !track.open_ended && track.remaining_ns <= kNothingLeftNs) retire(track);
  }
}

void Schedule::note_end(Track& track, const Operation& operation) {
  if (operation.activity.kind == Activity::Kind::kNone || !track.running) return;
  ended_.push_back({.start_ns = track.chain_start_ns,
                    .end_ns = time_ns_,
                    .lane = track.lane,
                    .device = track.device,
                    .activity = operation.activity});
  if (track.graph != nullptr) ended_.back().activity.correlation = track.graph->correlation;
}

void Schedule::retire(Track& track) {
  const Operation& operation = *head(track);
  note_end(track, operation);
  if (operation.mark) operation.mark->done_ns = time_ns_;
  if (operation.landing) operation.landing->land();
  if (is_copy(operation.engine)) {
    devices_[index(track.device)].copying[copy_index(operation.engine)] = nullptr;
  }
  // A wait that did not hold anything up leaves no trace.
  if (track.running || track.waits_since_ns != kNotWaiting) track.last_end_ns = time_ns_;
  track.running = false;
  track.open_ended = false;
  track.waits_since_ns = kNotWaiting;
  if (track.graph == nullptr) {
    Lane& lane = lanes_[track.lane];
    lane.queue.pop();
    ++lane.ended;
  } else {
    ++track.cursor;
  }
  if (head(track) != nullptr) return;
  some_finished_ = true;
  if (track.graph == nullptr || --track.graph->unfinished > 0) return;
  track.graph->parent->open_ended = false;
  track.graph->parent->remaining_ns = 0;
}

void Schedule::drop_finished() {
  some_finished_ = false;
  std::erase_if(active_, [this](Track* track) {
    if (track->running || head(*track) != nullptr) return false;
    track->active = false;
    if (track->graph == nullptr && lanes_[track->lane].released) {
      free_lanes_.push_back(track->lane);
    }
    return true;
  });
  std::erase_if(graphs_, [](const auto& graph) { return graph->unfinished == 0; });
}

std::vector<DueHostFunction> Schedule::take_due() { return std::exchange(due_, {}); }

void Schedule::host_function_returned(std::uint64_t id) {
  for (Track* track : active_) {
    if (!track->running || !track->open_ended || track->host_function != id) continue;
    track->open_ended = false;
    track->remaining_ns = 0;
    track->host_function = 0;
    return;
  }
}

std::int64_t Schedule::earliest_end_ns(LaneId lane, std::uint64_t position) const {
  return earliest_end_ns(lane, position, kWaitsFollowed);
}

std::int64_t Schedule::earliest_end_ns(LaneId id, std::uint64_t position, int depth) const {
  const Lane& lane = lanes_[id];
  if (lane.ended >= position || lane.queue.empty()) return time_ns_;
  const std::uint64_t behind = std::min<std::uint64_t>(position - lane.ended, lane.queue.size());
  const Operation& first = lane.queue[0];
  const Operation& last = lane.queue[behind - 1];
  // Never late: a factor below 1 shortens all of it, one above 1 nothing.
  const double scale = std::min(1.0, devices_[index(lane.device)].scale);
  const auto scaled = [scale](std::int64_t ns) {
    return static_cast<std::int64_t>(static_cast<double>(ns) * scale);
  };
  std::int64_t from_ns = time_ns_;
  if (lane.track.running) {
    if (!lane.track.open_ended) {
      from_ns += std::llround(std::max(0.0, lane.track.remaining_ns));
    } else if (first.program) {
      from_ns = std::max(from_ns, lane.track.start_ns + scaled(first.program->shortest_ns));
    }
  } else {
    from_ns = std::max(from_ns, ready_at(lane.track, first));
    if (first.engine == Engine::kWait && depth > 0) {
      from_ns = std::max(from_ns, earliest_end_ns(first.wait_lane, first.wait_position, depth - 1));
    }
    from_ns += scaled(first.duration_ns);
    if (first.program) from_ns += scaled(first.program->shortest_ns);
  }
  from_ns += scaled(last.work_until_ns - first.work_until_ns);
  return std::max(from_ns, last.earliest_ns + scaled(last.duration_ns));
}

}  // namespace unstarve::emulated
