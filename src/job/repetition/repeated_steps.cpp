#include "job/repetition/repeated_steps.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "job/rank/recorded.h"
#include "job/repetition/repetition.h"

namespace unstarve::job {

namespace {

// Names of what is no kernel lie above those of kernels.
constexpr std::uint32_t kFirstCopy = 1U << 30U;
constexpr std::uint32_t kMemset = kFirstCopy + 256;

struct Operation {
  std::int64_t at_ns = 0;  // when it was launched
  std::int64_t correlation = trace::kNoCorrelation;
  std::int64_t count = 1;  // that were launched by the same call
  Launched launched;
};

std::uint32_t likeness(const trace::DeviceOp& op) {
  if (op.kind == trace::DeviceOpKind::kMemset) return kMemset;
  if (op.kind == trace::DeviceOpKind::kCopy) {
    return kFirstCopy + static_cast<std::uint32_t>(op.direction);
  }
  return op.name % kFirstCopy;
}

bool copies_to_or_from_host(const trace::DeviceOp& op) {
  return op.kind == trace::DeviceOpKind::kCopy &&
         (op.direction == trace::CopyDirection::kHostToDevice ||
          op.direction == trace::CopyDirection::kDeviceToHost);
}

/// By launch, which streams do not mix up as they do starts; of a graph, which is one call, only
/// its first operation.
std::vector<Operation> by_launch(const trace::Timeline& timeline, const HostIndex& host,
                                 const std::vector<std::uint32_t>& ops) {
  std::vector<Operation> operations;
  operations.reserve(ops.size());
  for (const std::uint32_t i : ops) {
    const trace::DeviceOp& op = timeline.device_ops[i];
    const trace::HostCall* const launch = host.launch_of(op);
    Operation operation;
    operation.at_ns = launch == nullptr ? op.start_ns : launch->start_ns;
    operation.correlation = op.correlation;
    operation.launched = {likeness(op), copies_to_or_from_host(op), false};
    operations.push_back(operation);
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation& a, const Operation& b) { return a.at_ns < b.at_ns; });
  std::vector<Operation> calls;
  for (const Operation& operation : operations) {
    const bool same = !calls.empty() && operation.correlation != trace::kNoCorrelation &&
                      operation.correlation == calls.back().correlation;
    if (same) {
      ++calls.back().count;
    } else {
      calls.push_back(operation);
    }
  }
  return calls;
}

/// The host touches the device where it waits for it, after the last operation before that.
void mark_waits(const trace::Timeline& timeline, std::int64_t process,
                std::vector<Operation>& operations) {
  for (const trace::HostCall& call : timeline.host_calls) {
    if (call.kind != trace::HostCallKind::kSync || call.process != process) continue;
    const auto after = std::upper_bound(
        operations.begin(), operations.end(), call.start_ns,
        [](std::int64_t t, const Operation& operation) { return t < operation.at_ns; });
    if (after != operations.begin()) std::prev(after)->launched.touches_host = true;
  }
}

/// Leaves out what was launched outside of the windows, and says where each begins.
void cut_into_windows(const std::vector<trace::Interval>& windows,
                      std::vector<Operation>& operations) {
  if (windows.empty()) return;
  std::vector<Operation> kept;
  kept.reserve(operations.size());
  auto window = windows.begin();
  bool begins = true;
  for (Operation& operation : operations) {
    for (; window != windows.end() && window->end_ns <= operation.at_ns; ++window) begins = true;
    if (window == windows.end()) break;
    if (operation.at_ns < window->start_ns) continue;
    operation.launched.begins_window = begins;
    begins = false;
    kept.push_back(operation);
  }
  operations = std::move(kept);
}

/// What a replayed graph is known by: its first operation and how many there are.
using Graph = std::pair<std::uint32_t, std::int64_t>;

Graph graph_of(const Operation& call) { return {call.launched.what, call.count}; }

/// From one replay to the next of the graph that launches most of the work, where a graph does; so
/// large a one holds a whole step. Empty where none does.
std::vector<Stretch> replays(const std::vector<Operation>& calls) {
  constexpr std::int64_t kLargeGraph = 20;
  constexpr std::size_t kFewest = 6;
  constexpr double kMost = 0.5;
  std::map<Graph, std::int64_t> launched;
  std::int64_t all = 0;
  for (const Operation& call : calls) {
    all += call.count;
    if (call.count >= kLargeGraph) launched[graph_of(call)] += call.count;
  }
  const auto most =
      std::max_element(launched.begin(), launched.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == launched.end()) return {};
  if (static_cast<double>(most->second) < kMost * static_cast<double>(all)) return {};
  std::vector<Stretch> found;
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t begun = kNone;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].launched.begins_window) begun = kNone;
    if (graph_of(calls[i]) != most->first) continue;
    if (begun != kNone) found.push_back({begun, i});
    begun = i;
  }
  return found.size() < kFewest ? std::vector<Stretch>() : found;
}

}  // namespace

std::vector<trace::Step> steps_by_repetition(const trace::Timeline& timeline, const HostIndex& host,
                                             const std::vector<std::uint32_t>& ops,
                                             ThreadKey launcher) {
  std::vector<Operation> operations = by_launch(timeline, host, ops);
  mark_waits(timeline, launcher.process, operations);
  cut_into_windows(windows_of(timeline, launcher.process), operations);
  std::vector<Launched> sequence;
  sequence.reserve(operations.size());
  for (const Operation& operation : operations) sequence.push_back(operation.launched);

  std::vector<trace::Step> steps;
  std::vector<Stretch> stretches = replays(operations);
  if (stretches.empty()) stretches = repeated_stretches(sequence);
  for (const Stretch& stretch : stretches) {
    // How long the last one of a window takes nobody saw.
    if (stretch.end == operations.size() || sequence[stretch.end].begins_window) continue;
    trace::Step step;
    step.when = {operations[stretch.first].at_ns, operations[stretch.end].at_ns};
    step.index = static_cast<std::int64_t>(steps.size());
    step.thread = launcher.thread;
    step.process = launcher.process;
    step.source = trace::StepSource::kRepetition;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace unstarve::job
