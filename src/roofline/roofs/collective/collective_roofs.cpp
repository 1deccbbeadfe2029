#include "roofline/roofs/collective/collective_roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "roofline/roofs/collective/torch_collectives.h"
#include "roofline/roofs/repeats.h"

namespace unstarve::roofline {

namespace {

constexpr const char* kGroup = "gpu.nccl";
constexpr const char* kLatency = "latency";

Roof roof_of(const CollectiveTimes& times, int gpus) {
  const std::string name = fmt::format("{}.{}.{}", kGroup, times.kind, times.size);
  if (times.size == kLatency) {
    Roof roof = make_roof(name, "s", times.seconds);
    roof.value = *std::min_element(times.seconds.begin(), times.seconds.end());
    return roof;
  }
  std::vector<double> rates;
  for (const double seconds : times.seconds) {
    rates.push_back(bus_bytes_per_s(times.kind, times.bytes, gpus, seconds));
  }
  Roof roof = make_roof(name, "bytes/s", rates);
  roof.conditions.emplace_back("counted", std::string("bus bandwidth, as NCCL's tests"));
  return roof;
}

}  // namespace

double bus_bytes_per_s(const std::string& kind, std::int64_t bytes, int gpus, double seconds) {
  const double rate = static_cast<double>(bytes) / seconds;
  const double others = static_cast<double>(gpus - 1) / gpus;
  if (kind == "all_reduce") return 2 * others * rate;
  if (kind == "all_gather" || kind == "reduce_scatter") return others * rate;
  return kind == "send_recv" ? rate : 0;
}

void measure_collectives(int gpus, const std::string& python, std::int64_t duration_ns,
                         Session& session) {
  if (python.empty()) {
    return session.lacks(kGroup, "no python3 on PATH: name the job's one by --python");
  }
  session.doing(fmt::format("NCCL on {} GPUs, by the torch of {}", gpus, python));
  TorchCollectivesOptions options;
  options.python = python;
  options.gpus = gpus;
  options.duration_ns = duration_ns;
  const auto found = run_torch_collectives(options, session);
  if (!found) {
    // A terminal's Ctrl-C ends the ranks too: that is no reason of theirs.
    if (!session.stopped()) session.lacks(kGroup, found.error().message);
    return;
  }
  for (const CollectiveTimes& times : found->times) {
    if (times.seconds.empty()) continue;
    Roof roof = roof_of(times, gpus);
    roof.conditions.insert(roof.conditions.end(), {{"bytes", times.bytes},
                                                   {"gpus", std::int64_t{gpus}},
                                                   {"in_row", times.in_row},
                                                   {"nccl", found->nccl_version},
                                                   {"torch", found->torch_version}});
    session.add(std::move(roof));
  }
  if (found->cut_short.empty() || session.stopped()) return;
  session.lacks(found->times.empty() ? kGroup : fmt::format("{}.{}", kGroup, found->cut_at),
                fmt::format("{} (at {})", found->cut_short, found->cut_at));
}

}  // namespace unstarve::roofline
