#include "roofline/roofs/gpu/gpu_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "roofline/roofs/gpu/gpu_work.h"

namespace unstarve::roofline {

namespace {

constexpr const char* kPeers = "gpu.peers";
constexpr std::array<std::pair<std::uint64_t, const char*>, 2> kPeerSizes = {
    {{1ULL << 20, "1_mib"}, {256ULL << 20, "256_mib"}}};
constexpr std::uint64_t kPartOfMemory = 16;  // of a GPU, at most, in each of two buffers

/// One GPU, what it sends and where it receives.
class Peer {
 public:
  static Result<Peer> open(const CudaDriver& driver, int ordinal) {
    auto gpu = CudaGpu::open(driver, ordinal);
    if (!gpu) return forward_error(gpu);
    Peer peer(std::move(*gpu));
    for (auto* end : {&peer.source_, &peer.target_}) {
      auto allocated = peer.gpu_->allocate(CudaMemory::Kind::kDevice, peer.bytes());
      if (!allocated) return forward_error(allocated);
      end->emplace(std::move(*allocated));
    }
    return peer;
  }
  Peer(Peer&&) = default;
  Peer& operator=(Peer&&) = delete;
  ~Peer() {
    // Memory is given back where it is.
    if (gpu_ != nullptr) static_cast<void>(gpu_->make_current());
  }

  const CudaGpu& gpu() const { return *gpu_; }
  std::uint64_t source() const { return source_->device(); }
  std::uint64_t target() const { return target_->device(); }
  std::uint64_t bytes() const {
    return std::min(kPeerSizes.back().first, gpu_->memory_bytes() / kPartOfMemory);
  }

 private:
  explicit Peer(std::unique_ptr<CudaGpu> gpu) : gpu_(std::move(gpu)) {}
  std::unique_ptr<CudaGpu> gpu_;
  std::optional<CudaMemory> source_;
  std::optional<CudaMemory> target_;
};

void measure_pair(const GpuTiming& timing, const Peer& from, const Peer& to,
                  const std::string& name, Conditions conditions) {
  const auto reaches = from.gpu().reach(to.gpu());
  if (!reaches) return timing.session.lacks(name, reaches.error().message);
  if (Status done = from.gpu().make_current(); !done) {
    return timing.session.lacks(name, done.error().message);
  }
  conditions.emplace_back("peer_access", *reaches);
  for (const auto& [bytes, label] : kPeerSizes) {
    if (bytes > std::min(from.bytes(), to.bytes())) continue;
    const GpuWork work{fmt::format("{}.{}", name, label), "bytes/s", static_cast<double>(bytes),
                       [&, size = std::size_t{bytes}] {
                         return from.gpu().to_peer(to.gpu(), to.target(), from.source(), size);
                       }};
    Conditions of_size = {{"bytes", static_cast<std::int64_t>(bytes)}};
    of_size.insert(of_size.end(), conditions.begin(), conditions.end());
    add_timed(timing, work, of_size);
  }
}

}  // namespace

void measure_peers(const CudaDriver& driver, const GpuGroupState& state, std::int64_t duration_ns,
                   Session& session) {
  std::vector<Peer> peers;
  for (int i = 0; i < driver.gpu_count(); ++i) {
    auto peer = Peer::open(driver, i);
    if (!peer) return session.lacks(kPeers, peer.error().message);
    peers.push_back(std::move(*peer));
  }
  const std::size_t roofs = peers.size() * (peers.size() - 1) * kPeerSizes.size();
  const std::int64_t each_ns =
      duration_ns / static_cast<std::int64_t>(std::max<std::size_t>(roofs, 1));
  for (std::size_t from = 0; from < peers.size(); ++from) {
    for (std::size_t to = 0; to < peers.size() && !session.stopped(); ++to) {
      if (from == to) continue;
      measure_pair({peers[from].gpu(), each_ns, session}, peers[from], peers[to],
                   fmt::format("{}.{}_to_{}", kPeers, from, to), state.link(from, to));
    }
  }
}

}  // namespace unstarve::roofline
