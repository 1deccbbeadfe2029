#include "emulated/board/board_history.h"

#include <algorithm>

namespace unstarve::emulated {

namespace {

// Who looks only after this long finds the time before as it is assumed: idle.
constexpr std::int64_t kCatchUpNs = 600'000'000'000;
constexpr auto kOpenMax = static_cast<std::size_t>(2 * kCatchUpNs / BoardHistory::kWindowNs);

/// Nanoseconds covered by at least one of the spans, which are in the order of their starts.
template <class Spans>
std::int64_t covered_ns(const Spans& spans) {
  std::int64_t total = 0;
  std::int64_t covered_to = INT64_MIN;
  for (const auto& span : spans) {
    const std::int64_t from = std::max(span.start_ns, covered_to);
    if (span.end_ns > from) total += span.end_ns - from;
    covered_to = std::max(covered_to, span.end_ns);
  }
  return total;
}

}  // namespace

BoardHistory::BoardHistory(const Profile& profile, std::int64_t start_ns, double load_s,
                           double load)
    : board_(profile) {
  Window before;
  before.end_ns = start_ns;
  before.board =
      load_s > 0 ? board_.advance(load_s, std::min(1.0, load), load > 0) : board_.state();
  windows_.push_back(std::move(before));
}

void BoardHistory::add_part(Open& open, std::int64_t pid, const BoardOperation& operation,
                            Span part) {
  const auto ns = static_cast<double>(part.end_ns - part.start_ns);
  const double bytes =
      operation.bytes * ns / static_cast<double>(operation.end_ns - operation.start_ns);
  open.load_ns += ns * operation.power_load;
  open.dram_ns[pid] += ns * operation.dram_ratio;
  switch (operation.kind) {
    case BoardOperation::Kind::kKernel: open.kernels.push_back(part); break;
    case BoardOperation::Kind::kUpload: open.rx_bytes += bytes; break;
    case BoardOperation::Kind::kDownload: open.tx_bytes += bytes; break;
    case BoardOperation::Kind::kOther: break;
  }
}

void BoardHistory::add(std::int64_t pid, const BoardOperation& operation) {
  std::int64_t from = std::max(operation.start_ns, open_from());
  while (from < operation.end_ns) {
    const auto number = static_cast<std::size_t>((from - open_from()) / kWindowNs);
    if (number >= kOpenMax) return;
    if (number >= open_.size()) open_.resize(number + 1);
    const std::int64_t window_end = open_from() + static_cast<std::int64_t>(number + 1) * kWindowNs;
    const std::int64_t to = std::min(operation.end_ns, window_end);
    add_part(open_[number], pid, operation, {pid, from, to});
    from = to;
  }
}

void BoardHistory::skip_to(std::int64_t ns) {
  while (open_from() + kWindowNs <= ns && !open_.empty()) {
    windows_.back().end_ns += kWindowNs;
    open_.pop_front();
  }
  const std::int64_t gap_ns = ns - open_from();
  if (gap_ns <= 0 || !open_.empty()) return;
  windows_.back().board = board_.advance(1e-9 * static_cast<double>(gap_ns), 0, false);
  windows_.back().end_ns = ns;
}

void BoardHistory::close_until(std::int64_t now_ns) {
  if (now_ns - open_from() > kCatchUpNs) skip_to(now_ns - kCatchUpNs);
  while (open_from() + kWindowNs + kGraceNs <= now_ns) {
    if (open_.empty()) open_.emplace_back();
    close(open_.front());
    open_.pop_front();
  }
}

void BoardHistory::close(Open& open) {
  constexpr auto kWindow = static_cast<double>(kWindowNs);
  Window window;
  window.end_ns = open_from() + kWindowNs;
  window.pcie_rx_bytes = latest().pcie_rx_bytes + open.rx_bytes;
  window.pcie_tx_bytes = latest().pcie_tx_bytes + open.tx_bytes;

  std::sort(open.kernels.begin(), open.kernels.end(),
            [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  window.utilization_ratio = static_cast<double>(covered_ns(open.kernels)) / kWindow;
  std::map<std::int64_t, std::vector<Span>> of_process;
  for (const Span& each : open.kernels) of_process[each.pid].push_back(each);
  for (const auto& [pid, kernels] : of_process) {
    window.processes[pid].kernel_ratio = static_cast<double>(covered_ns(kernels)) / kWindow;
  }
  double dram_ns = 0;
  for (const auto& [pid, ns] : open.dram_ns) {
    window.processes[pid].dram_ratio = std::min(1.0, ns / kWindow);
    dram_ns += ns;
  }
  window.memory_controller_ratio = std::min(1.0, dram_ns / kWindow);
  window.board =
      board_.advance(1e-9 * kWindow, std::min(1.0, open.load_ns / kWindow), open.load_ns > 0);
  windows_.push_back(std::move(window));
  if (windows_.size() > kWindowsKept) windows_.pop_front();
}

}  // namespace unstarve::emulated
