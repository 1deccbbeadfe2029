#include "roofline/roofs/gpu/gpu_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

constexpr std::int64_t kRepeatNs = 4'000'000;  // waiting for the GPU is little of that
constexpr int kMostStarts = 10'000;
constexpr int kFewestGpuRepeats = 3;
constexpr int kMostRepeats = 100;
constexpr std::array<std::pair<std::uint64_t, const char*>, 4> kSizes = {
    {{64ULL << 10, "64_kib"},
     {1ULL << 20, "1_mib"},
     {16ULL << 20, "16_mib"},
     {256ULL << 20, "256_mib"}}};
constexpr std::uint64_t kDeviceCopyBytes = 1ULL << 30;
constexpr int kGraphNodes = 100;

/// Nanoseconds of so many starts and the wait for them.
Result<std::int64_t> time_starts(const CudaGpu& gpu, const GpuWork& work, int count,
                                 Session& session) {
  const std::int64_t start_ns = session.clock().now_ns();
  for (int i = 0; i < count; ++i) {
    if (Status started = work.start(); !started) return forward_error(started);
  }
  if (Status finished = gpu.finish(); !finished) return forward_error(finished);
  return session.clock().now_ns() - start_ns;
}

/// Memory of the host, of one kind.
struct HostKind {
  const char* name;
  CudaMemory::Kind kind;
  bool pageable;
};
constexpr std::array<HostKind, 3> kHostKinds = {
    {{"pinned", CudaMemory::Kind::kPinned, false},
     {"pageable", CudaMemory::Kind::kPinned, true},
     {"write_combined", CudaMemory::Kind::kWriteCombined, false}}};

/// Both ways, each size, by one kind of memory.
void measure_host_kind(const GpuTiming& timing, const CudaMemory& device, const HostKind& kind,
                       const std::string& prefix, std::uint64_t most_bytes) {
  const CudaGpu& gpu = timing.gpu;
  Session& session = timing.session;
  std::vector<std::byte> pageable(kind.pageable ? most_bytes : 0, std::byte{1});
  std::optional<CudaMemory> pinned;
  if (!kind.pageable) {
    auto allocated = gpu.allocate(kind.kind, most_bytes);
    if (!allocated) {
      session.lacks(fmt::format("{}.h2d.{}", prefix, kind.name), allocated.error().message);
      return session.lacks(fmt::format("{}.d2h.{}", prefix, kind.name), allocated.error().message);
    }
    pinned.emplace(std::move(*allocated));
  }
  void* const host = kind.pageable ? pageable.data() : pinned->host();
  for (const bool to_device : {true, false}) {
    for (const auto& [bytes, label] : kSizes) {
      if (bytes > most_bytes) continue;
      const std::size_t size = bytes;
      const GpuWork work{
          fmt::format("{}.{}.{}.{}", prefix, to_device ? "h2d" : "d2h", kind.name, label),
          "bytes/s", static_cast<double>(bytes), [&, size]() -> Status {
            return to_device ? gpu.to_device(device.device(), host, size)
                             : gpu.to_host(host, device.device(), size);
          }};
      add_timed(timing, work, {{"bytes", static_cast<std::int64_t>(bytes)}});
    }
  }
}

/// Both ways at once, each with memory of its own at both ends; bytes of both are counted.
void measure_both_ways(CudaGpu& gpu, const GpuTiming& timing, const std::string& prefix,
                       std::uint64_t most_bytes) {
  const std::string group = prefix + ".both_ways.pinned";
  std::vector<CudaMemory> ends;
  for (const auto kind : {CudaMemory::Kind::kDevice, CudaMemory::Kind::kDevice,
                          CudaMemory::Kind::kPinned, CudaMemory::Kind::kPinned}) {
    auto allocated = gpu.allocate(kind, most_bytes);
    if (!allocated) return timing.session.lacks(group, allocated.error().message);
    ends.push_back(std::move(*allocated));
  }
  for (const auto& [bytes, label] : kSizes) {
    if (bytes > most_bytes) continue;
    const GpuWork work{fmt::format("{}.{}", group, label), "bytes/s",
                       2 * static_cast<double>(bytes), [&, size = std::size_t{bytes}]() -> Status {
                         const Status up = gpu.to_device(ends[0].device(), ends[2].host(), size);
                         if (!up) return up;
                         return gpu.to_host_beside(ends[3].host(), ends[1].device(), size);
                       }};
    add_timed(timing, work,
              {{"bytes", static_cast<std::int64_t>(bytes)},
               {"counted", std::string("of both directions")}});
  }
}

}  // namespace

void add_timed(const GpuTiming& timing, const GpuWork& work, const Conditions& conditions,
               double spec) {
  Session& session = timing.session;
  if (session.stopped()) return;
  session.doing(work.name);
  const auto rates = time_gpu_work(timing.gpu, work, timing.duration_ns, session);
  if (!rates) return session.lacks(work.name, rates.error().message);
  if (session.stopped() && rates->empty()) return;
  Roof roof = make_roof(work.name, work.unit, *rates);
  roof.conditions.insert(roof.conditions.end(), conditions.begin(), conditions.end());
  if (spec > 0) return session.add_below(std::move(roof), spec, "the memory's peak rate");
  session.add(std::move(roof));
}

Result<std::vector<double>> time_gpu_work(const CudaGpu& gpu, const GpuWork& work,
                                          std::int64_t duration_ns, Session& session) {
  const std::int64_t end_ns = session.clock().now_ns() + duration_ns;
  // The first start may load code or make memory ready; the second says how long one takes.
  if (const auto warm = time_starts(gpu, work, 1, session); !warm) return forward_error(warm);
  const auto one_ns = time_starts(gpu, work, 1, session);
  if (!one_ns) return forward_error(one_ns);
  const std::int64_t starts = kRepeatNs / std::max<std::int64_t>(*one_ns, 1) + 1;
  const int count = static_cast<int>(std::min<std::int64_t>(starts, kMostStarts));
  std::vector<double> rates;
  while (!session.stopped() && static_cast<int>(rates.size()) < kMostRepeats) {
    const bool time_left = session.clock().now_ns() < end_ns;
    if (!time_left && static_cast<int>(rates.size()) >= kFewestGpuRepeats) break;
    const auto taken_ns = time_starts(gpu, work, count, session);
    if (!taken_ns) return forward_error(taken_ns);
    rates.push_back(work.amount * count * kNsPerS / static_cast<double>(*taken_ns));
  }
  return rates;
}

void measure_transfers(CudaGpu& gpu, const std::string& prefix, std::uint64_t most_bytes,
                       std::int64_t duration_ns, Session& session) {
  const std::uint64_t largest = std::min(most_bytes, kSizes.back().first);
  constexpr std::int64_t kDirections = 2 * kHostKinds.size() + 1;  // the last one is both
  const GpuTiming timing = {gpu, duration_ns / (kDirections * std::int64_t{kSizes.size()}),
                            session};
  {
    const auto device = gpu.allocate(CudaMemory::Kind::kDevice, largest);
    if (!device) {
      session.lacks(prefix + ".h2d", device.error().message);
      return session.lacks(prefix + ".d2h", device.error().message);
    }
    for (const HostKind& kind : kHostKinds) {
      measure_host_kind(timing, *device, kind, prefix, largest);
    }
  }
  measure_both_ways(gpu, timing, prefix, largest);
}

void measure_device_memory(const CudaGpu& gpu, const std::string& prefix, double peak,
                           std::int64_t duration_ns, Session& session) {
  const std::uint64_t bytes = std::min(kDeviceCopyBytes, gpu.memory_bytes() / 8);
  const auto source = gpu.allocate(CudaMemory::Kind::kDevice, bytes);
  const auto target = gpu.allocate(CudaMemory::Kind::kDevice, bytes);
  if (!source || !target) {
    return session.lacks(prefix + ".hbm", (source ? target : source).error().message);
  }
  const GpuTiming timing = {gpu, duration_ns / 3, session};
  const auto copy = [&](const std::string& name, std::uint64_t size, double spec) {
    const GpuWork work{prefix + name, "bytes/s", 2 * static_cast<double>(size), [&, size] {
                         return gpu.within_device(target->device(), source->device(), size);
                       }};
    add_timed(
        timing, work,
        {{"bytes", static_cast<std::int64_t>(size)}, {"counted", std::string("read and written")}},
        spec);
  };
  copy(".hbm.copy", bytes, peak);
  const GpuWork set{prefix + ".hbm.set", "bytes/s", static_cast<double>(bytes),
                    [&, size = std::size_t{bytes}] { return gpu.fill(target->device(), size); }};
  add_timed(timing, set, {{"bytes", static_cast<std::int64_t>(bytes)}}, peak);
  if (gpu.l2_bytes() == 0) {
    return session.lacks(prefix + ".l2", "the driver does not say how large its cache is");
  }
  // Source and target together take half of it.
  copy(".l2.copy", gpu.l2_bytes() / 4, 0);
}

void measure_launches(CudaGpu& gpu, const std::string& prefix, std::int64_t duration_ns,
                      Session& session) {
  if (Status loaded = gpu.load_empty_kernel(); !loaded) {
    return session.lacks(prefix + ".launch", loaded.error().message);
  }
  const GpuWork kernel{prefix + ".launch.kernels", "1/s", 1,
                       [&gpu] { return gpu.launch_empty_kernel(); }};
  const GpuTiming timing = {gpu, duration_ns / 2, session};
  add_timed(timing, kernel, {});
  if (Status made = gpu.make_empty_graph(kGraphNodes); !made) {
    return session.lacks(prefix + ".launch.graph_nodes", made.error().message);
  }
  const GpuWork graph{prefix + ".launch.graph_nodes", "1/s", kGraphNodes,
                      [&gpu] { return gpu.launch_graph(); }};
  add_timed(timing, graph, {{"nodes", std::int64_t{kGraphNodes}}});
}

}  // namespace unstarve::roofline
