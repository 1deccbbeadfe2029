#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "roofline/roofs/session.h"

namespace unstarve::roofline {

/// Exchanges between all GPUs of a machine by torch's NCCL, which is the one that training uses.
struct TorchCollectivesOptions {
  std::string python;  // an interpreter; torch is imported by it alone
  int gpus = 2;
  std::int64_t duration_ns = 0;  // of all exchanges; importing torch is not in it
  /// How long nothing may be heard: until all have imported torch, and of NCCL from then on. Ranks
  /// that wait for each other wait for ever, so whoever is silent for longer hangs.
  std::int64_t import_limit_ns = 120'000'000'000;
  std::int64_t silence_limit_ns = 60'000'000'000;
};

/// One exchange at one size.
struct CollectiveTimes {
  std::string kind;             // "all_reduce", "all_gather", "reduce_scatter", "send_recv"
  std::string size;             // "16_mib", or "latency": a few bytes
  std::int64_t bytes = 0;       // of the larger buffer of a GPU, as NCCL's tests count
  std::int64_t in_row = 1;      // exchanges that a repeat has
  std::vector<double> seconds;  // of an exchange, by repeat
};

struct TorchCollectives {
  std::vector<CollectiveTimes> times;
  std::string torch_version;
  std::string nccl_version;  // "2.27.5"
  /// Not empty: it ended before its end. Why, and what it was at: "all_reduce.16_mib".
  std::string cut_short;
  std::string cut_at;
};

/// Runs them in a process for each GPU, which all end with this call, whatever NCCL does.
/// Errors: there is no such interpreter, it has no torch with NCCL, torch sees too few GPUs.
Result<TorchCollectives> run_torch_collectives(const TorchCollectivesOptions& options,
                                               Session& session);

}  // namespace unstarve::roofline
