#include "job/repetition/repeated_steps.h"

#include <algorithm>
#include <iterator>

#include "job/recorded.h"
#include "job/repetition/repetition.h"

namespace unstarve::job {

namespace {

// Names of what is no kernel lie above those of kernels.
constexpr std::uint32_t kFirstCopy = 1U << 30U;
constexpr std::uint32_t kMemset = kFirstCopy + 256;

struct Operation {
  std::int64_t at_ns = 0;  // when it was launched
  std::int64_t correlation = trace::kNoCorrelation;
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
  const auto of_one_call = [](const Operation& a, const Operation& b) {
    return a.correlation == b.correlation && a.correlation != trace::kNoCorrelation;
  };
  operations.erase(std::unique(operations.begin(), operations.end(), of_one_call),
                   operations.end());
  return operations;
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
  for (const Stretch& one : repeated_stretches(sequence)) {
    // How long the last one of a window takes nobody saw.
    if (one.end == operations.size() || sequence[one.end].begins_window) continue;
    trace::Step step;
    step.when = {operations[one.first].at_ns, operations[one.end].at_ns};
    step.index = static_cast<std::int64_t>(steps.size());
    step.thread = launcher.thread;
    step.process = launcher.process;
    step.source = trace::StepSource::kRepetition;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace unstarve::job
