#include "device/emulated/activity_history.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/cupti_ring.h"

namespace unstarve::device::emulated {

namespace {

// A copy keeps the memory controller less busy than a kernel does, and costs little power.
constexpr double kCopyPowerLoad = 0.08;
constexpr double kCopyDramRatio = 0.15;
// Longer than any operation or polling pause that makes sense; a damaged record cannot make us
// integrate over years.
constexpr std::int64_t kOperationNsMax = 3'600'000'000'000;
// Who looks only after this long finds nothing of the time before in the ring: it counts as idle.
constexpr std::int64_t kCatchUpNs = 600'000'000'000;
// Far beyond the operations that a full queue can hold.
constexpr std::size_t kPendingMax = 1 << 20;

/// Nanoseconds covered by at least one of the spans.
std::int64_t union_ns(std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  std::sort(spans.begin(), spans.end());
  std::int64_t total = 0;
  std::int64_t covered_to = INT64_MIN;
  for (const auto& [start, end] : spans) {
    const std::int64_t from = std::max(start, covered_to);
    if (end > from) total += end - from;
    covered_to = std::max(covered_to, end);
  }
  return total;
}

struct RingText {
  Profile profile;
  std::int32_t index = 0;
  std::vector<KernelKind> kinds;
};

Result<RingText> parse_text(const std::string& text, const std::string& path) {
  const nlohmann::json about = nlohmann::json::parse(text, nullptr, false);
  const auto member = [&](const char* key) {
    return about.is_object() ? about.value(key, nlohmann::json()) : nlohmann::json();
  };
  const nlohmann::json profile_name = member("profile");
  const nlohmann::json index = member("index");
  const nlohmann::json names = member("names");
  if (!member("emulated").is_boolean() || !profile_name.is_string() || !names.is_array() ||
      !index.is_number_integer()) {
    return fail(ErrorCode::kCorruptData, "ring {} does not say which emulated GPU wrote it", path);
  }
  Result<Profile> profile = find_profile(profile_name.get<std::string>());
  if (!profile) return forward_error(profile);
  RingText parsed{std::move(*profile), index.get<std::int32_t>(), {}};
  for (const nlohmann::json& name : names) {
    parsed.kinds.push_back(kernel_kind_named(name.is_string() ? name.get<std::string>() : ""));
  }
  return parsed;
}

}  // namespace

ActivityHistory::ActivityHistory(RingReader ring, Profile profile, std::int32_t index,
                                 std::vector<KernelKind> kinds)
    : ring_(std::move(ring)),
      profile_(std::move(profile)),
      index_(index),
      kinds_(std::move(kinds)),
      board_(profile_) {
  Window idle;
  idle.end_ns = ring_.created_ns();
  idle.board = board_.state();
  windows_.push_back(idle);
}

Result<ActivityHistory> ActivityHistory::open(const std::string& path) {
  Result<RingReader> ring = RingReader::open(path);
  if (!ring) return forward_error(ring);
  if (ring->kind() != RingKind::kDeviceActivity) {
    return fail(ErrorCode::kNotSupported, "ring {} holds no device activity", path);
  }
  if (ring->created_ns() < 0 || ring->created_ns() > INT64_MAX / 2) {
    return fail(ErrorCode::kCorruptData, "ring {} was created at an impossible time", path);
  }
  const Result<std::string> text = ring->text();
  if (!text) return forward_error(text);
  Result<RingText> about = parse_text(*text, path);
  if (!about) return forward_error(about);
  return ActivityHistory(std::move(*ring), std::move(about->profile), about->index,
                         std::move(about->kinds));
}

void ActivityHistory::add(const Operation& operation) {
  const bool sound = operation.start_ns >= 0 && operation.end_ns > operation.start_ns &&
                     operation.end_ns - operation.start_ns < kOperationNsMax;
  if (!sound || operation.end_ns <= windows_.back().end_ns) return;
  if (pending_.size() < kPendingMax) pending_.push_back(operation);
}

void ActivityHistory::take(std::span<const std::byte> record) {
  if (const auto kernel = cupti::from_ring_record<cupti::Kernel>(record)) {
    const KernelKind kind =
        kernel->name < kinds_.size() ? kinds_[kernel->name] : kernel_kind_named("");
    add({.start_ns = static_cast<std::int64_t>(kernel->start_ns),
         .end_ns = static_cast<std::int64_t>(kernel->end_ns),
         .kind = Kind::kKernel,
         .power_load = kind.power_load,
         .dram_ratio = kind.dram_ratio});
  } else if (const auto copy = cupti::from_ring_record<cupti::Memcpy>(record)) {
    const bool upload =
        copy->copy_kind == static_cast<std::uint8_t>(cupti::CopyKind::kHostToDevice);
    add({.start_ns = static_cast<std::int64_t>(copy->start_ns),
         .end_ns = static_cast<std::int64_t>(copy->end_ns),
         .kind = upload ? Kind::kUpload : Kind::kDownload,
         .power_load = kCopyPowerLoad,
         .dram_ratio = kCopyDramRatio,
         .bytes = static_cast<double>(copy->bytes)});
  } else if (const auto state = cupti::from_ring_record<cupti::EmulatedState>(record)) {
    memory_used_bytes_ = state->memory_used_bytes;
  }
}

Status ActivityHistory::follow(std::int64_t now_ns) {
  const Result<std::uint64_t> read =
      ring_.drain([this](std::span<const std::byte> record) { take(record); });
  if (!read) return forward_error(read);
  skip_to(now_ns - kCatchUpNs);
  while (windows_.back().end_ns + kWindowNs + kGraceNs <= now_ns) {
    const std::int64_t start_ns = windows_.back().end_ns;
    close_window(start_ns, start_ns + kWindowNs);
  }
  return {};
}

void ActivityHistory::skip_to(std::int64_t ns) {
  const std::int64_t gap_ns = ns - windows_.back().end_ns;
  if (gap_ns <= 0) return;
  windows_.back().board = board_.advance(1e-9 * static_cast<double>(gap_ns), 0, false);
  windows_.back().end_ns = ns;
}

void ActivityHistory::end_at(std::int64_t ns) { ended_ns_ = std::min(ended_ns_, ns); }

void ActivityHistory::close_window(std::int64_t start_ns, std::int64_t end_ns) {
  Window window = windows_.back();
  window.end_ns = end_ns;
  std::vector<std::pair<std::int64_t, std::int64_t>> kernels;
  double load_ns = 0;
  double dram_ns = 0;
  for (const Operation& each : pending_) {
    const std::int64_t from = std::max(each.start_ns, start_ns);
    const std::int64_t to = std::min({each.end_ns, end_ns, ended_ns_});
    if (to <= from) continue;
    const auto ns = static_cast<double>(to - from);
    load_ns += ns * each.power_load;
    dram_ns += ns * each.dram_ratio;
    const double bytes = each.bytes * ns / static_cast<double>(each.end_ns - each.start_ns);
    if (each.kind == Kind::kKernel) kernels.emplace_back(from, to);
    if (each.kind == Kind::kUpload) window.pcie_rx_bytes += bytes;
    if (each.kind == Kind::kDownload) window.pcie_tx_bytes += bytes;
  }
  std::erase_if(pending_, [&](const Operation& each) { return each.end_ns <= end_ns; });

  const auto window_ns = static_cast<double>(end_ns - start_ns);
  window.utilization_ratio = static_cast<double>(union_ns(kernels)) / window_ns;
  window.memory_controller_ratio = std::min(1.0, dram_ns / window_ns);
  window.board = board_.advance(1e-9 * window_ns, std::min(1.0, load_ns / window_ns), load_ns > 0);
  windows_.push_back(window);
  if (windows_.size() > kWindowsKept) windows_.pop_front();
}

}  // namespace unstarve::device::emulated
