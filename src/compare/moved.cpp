#include "compare/moved.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compare/change/change.h"
#include "compare/run/measures.h"

namespace unstarve::compare {

namespace {

using Parts = std::map<std::string, double>;
using ByName = std::map<std::string, double>;

/// A share or a count that did not change by this much is no reason.
constexpr double kMuchShare = 0.1;
constexpr double kMuchRatio = 1.1;
constexpr double kMuchCount = 0.1;  // of calls a step, where one side may have none

Parts mean_parts(const Side& side) {
  Parts sum;
  for (const MeasuredRun& run : side.runs) {
    for (const auto& [part, share] : run.parts) {
      sum[part] += share / static_cast<double>(side.runs.size());
    }
  }
  return sum;
}

double of(const Parts& parts, const std::string& part) {
  const auto found = parts.find(part);
  return found == parts.end() ? 0 : found->second;
}

/// Of all runs' steps together; 0 where it is not known.
double value(const Side& side, std::string_view id) {
  std::vector<StepBlock> blocks;
  for (const MeasuredRun& run : side.runs) {
    blocks.insert(blocks.end(), run.blocks.begin(), run.blocks.end());
  }
  return value_of(*measure_named(id), blocks).value_or(0);
}

/// The one that changed most in the direction of `sign`.
std::optional<MovedReason> largest(std::vector<MovedReason> reasons, double sign) {
  const auto found = std::max_element(reasons.begin(), reasons.end(),
                                      [&](const MovedReason& one, const MovedReason& other) {
                                        return sign * (one.b - one.a) < sign * (other.b - other.a);
                                      });
  if (found == reasons.end() || sign * (found->b - found->a) <= 0) return std::nullopt;
  return *found;
}

/// Lines move when a script is changed; what they call stays.
std::string name_of(const diagnose::CodeShare& part) {
  if (!part.what.empty()) return part.what;
  return part.call.empty() ? part.place : part.call;
}

std::string place_of(const diagnose::CodeTime& code, const std::string& name) {
  for (const diagnose::CodeShare& part : code.parts) {
    if (name_of(part) == name) return part.place;
  }
  return {};
}

ByName times_of(const diagnose::CodeTime& code, double ms) {
  ByName times;
  for (const diagnose::CodeShare& part : code.parts) times[name_of(part)] += part.share * ms;
  return times;
}

/// Lines of the job in some time of each side: `ms_a`, `ms_b`.
std::optional<MovedReason> moved_line(const diagnose::CodeTime& a, double ms_a,
                                      const diagnose::CodeTime& b, double ms_b, double sign) {
  ByName of_a = times_of(a, ms_a);
  const ByName of_b = times_of(b, ms_b);
  std::vector<MovedReason> lines;
  for (const auto& [name, ms] : of_b) lines.push_back({MovedBy::kLine, name, "", of_a[name], ms});
  for (const auto& [name, ms] : of_a) {
    if (of_b.find(name) == of_b.end()) lines.push_back({MovedBy::kLine, name, "", ms, 0});
  }
  std::optional<MovedReason> line = largest(std::move(lines), sign);
  if (!line) return line;
  line->place = place_of(sign > 0 ? b : a, line->what);
  if (line->place == line->what) line->what.clear();
  return line;
}

/// Without workers loading and computing take turns; a first worker lets them go on together.
double workers_of(const Side& side) {
  constexpr double kInTurns = 0.5;
  return std::max(kInTurns, side.first().signals.num_workers.value_or(1));
}

/// Parts of a fetch that are transforms, or lines of the job's own.
diagnose::CodeTime transforms_of(const diagnose::CodeTime& fetch) {
  diagnose::CodeTime transforms;
  for (const diagnose::CodeShare& part : fetch.parts) {
    if (part.what != "decoding images" && part.what != "collating")
      transforms.parts.push_back(part);
  }
  return transforms;
}

/// What loading a sample takes, of one process.
double fetch_ms(const Side& side) {
  return value(side, "fetch_cpu_ms_per_sample") + value(side, "fetch_off_cpu_ms_per_sample");
}

std::optional<MovedReason> moved_stage(const Side& a, const Side& b, double sign) {
  std::vector<MovedReason> stages;
  for (const char* const id : {"decode_cpu_ms_per_sample", "transform_cpu_ms_per_sample",
                               "collate_cpu_ms_per_sample", "fetch_off_cpu_ms_per_sample"}) {
    stages.push_back(
        {MovedBy::kStage, std::string(measure_named(id)->words), "", value(a, id), value(b, id)});
  }
  std::optional<MovedReason> stage = largest(std::move(stages), sign);
  if (!stage || stage->what != measure_named("transform_cpu_ms_per_sample")->words) return stage;
  // The line says more, where it is known which it is.
  const auto line = moved_line(transforms_of(a.first().fetch_code), fetch_ms(a),
                               transforms_of(b.first().fetch_code), fetch_ms(b), sign);
  if (!line) return stage;
  stage->place = line->place;
  if (!line->what.empty()) stage->what = line->what;
  return stage;
}

/// Whether processes of others took the CPUs, and the job's own work is the same.
std::optional<MovedReason> moved_neighbours(const Side& a, const Side& b, double sign) {
  constexpr double kCpus = 0.3;
  constexpr double kOfAll = 0.5;
  const Reading<double>& of_a = a.first().signals.neighbour_cores;
  const Reading<double>& of_b = b.first().signals.neighbour_cores;
  if (!of_a || !of_b || sign * (*of_b - *of_a) < kCpus) return std::nullopt;
  const double cpu = value(b, "fetch_cpu_ms_per_sample") - value(a, "fetch_cpu_ms_per_sample");
  const double all = fetch_ms(b) - fetch_ms(a);
  if (sign * cpu > kOfAll * sign * all) return std::nullopt;
  return MovedReason{MovedBy::kNeighbours, "", "", *of_a, *of_b};
}

/// Whether a count changed by a ratio that matters; also from none.
bool moved_count(double a, double b, double sign) {
  if (sign * (b - a) < kMuchCount) return false;
  const double less = std::min(a, b), more = std::max(a, b);
  return more > kMuchRatio * less;
}

/// A signal that both know and that changed enough: by a share, or by a ratio of counts.
std::optional<MovedReason> moved_signal(MovedBy kind, const Reading<double>& a,
                                        const Reading<double>& b, double sign, bool is_share) {
  if (!a || !b) return std::nullopt;
  const bool moved = is_share ? sign * (*b - *a) > kMuchShare : moved_count(*a, *b, sign);
  if (!moved) return std::nullopt;
  return MovedReason{kind, "", "", *a, *b};
}

/// Milliseconds of a step in which the training thread is blocked.
double blocked_ms(const Side& side) {
  constexpr double kMsOfUs = 1e-3;
  return value(side, "blocked") * value(side, "step_time") * kMsOfUs;
}

/// The line whose calls wait for the GPU longer.
std::optional<MovedReason> moved_sync_line(const Side& a, const Side& b, double sign) {
  return moved_line(a.first().sync_code, blocked_ms(a), b.first().sync_code, blocked_ms(b), sign);
}

/// How often a step waits for the GPU, and at which line it does so more.
std::optional<MovedReason> moved_syncs(const Side& a, const Side& b, double sign) {
  std::optional<MovedReason> calls = moved_signal(MovedBy::kSyncs, a.first().signals.syncs_per_step,
                                                  b.first().signals.syncs_per_step, sign, false);
  if (!calls) return calls;
  if (const auto line = moved_sync_line(a, b, sign)) calls->place = line->place;
  return calls;
}

/// Whether loading changed by so much that it explains a third of what the wait did; true where it
/// is not known what a sample waits.
bool loading_explains(const Side& a, const Side& b, const PartTime& moved, double sign) {
  constexpr double kTells = 1.0 / 3;
  constexpr double kMsOfUs = 1e-3;
  const double wait_ms =
      kMsOfUs * (moved.share_b * value(b, "sample_time") - moved.share_a * value(a, "sample_time"));
  const auto of_a_process = [](const Side& side) {
    return fetch_ms(side) / std::max(1.0, side.first().signals.num_workers.value_or(1));
  };
  return sign * (of_a_process(b) - of_a_process(a)) >= kTells * sign * wait_ms;
}

std::optional<MovedReason> why_waits(const Side& a, const Side& b, const PartTime& moved,
                                     double sign) {
  const bool known = a.first().signals.num_workers && b.first().signals.num_workers;
  const double workers = known ? std::log(workers_of(a) / workers_of(b)) : 0;
  const double before = fetch_ms(a);
  const double after = fetch_ms(b);
  const double work = before > 0 && after > 0 ? std::log(after / before) : 0;
  const double starts_a = a.first().signals.startup_wait_ratio.value_or(0);
  const double starts_b = b.first().signals.startup_wait_ratio.value_or(0);
  constexpr double kTells = 0.03;  // of less work or fewer workers
  // Without workers the training process loads, by as many threads as torch has there, so that the
  // work itself is another one.
  const bool takes_turns = (workers_of(a) < 1) != (workers_of(b) < 1);
  if (sign * workers > kTells && (takes_turns || sign * workers >= sign * work)) {
    return MovedReason{MovedBy::kWorkers, "", "", a.first().signals.num_workers.value_or(0),
                       b.first().signals.num_workers.value_or(0)};
  }
  if (sign * (starts_b - starts_a) > kMuchShare && sign * work < kTells) {
    return MovedReason{MovedBy::kWorkerStarts, "", "", starts_a, starts_b};
  }
  if (const auto neighbours = moved_neighbours(a, b, sign)) return neighbours;
  // Loading takes no longer, or hardly: a host that waits for the GPU in each step has no work
  // ahead any more that would hide it.
  if (sign * work <= kTells || !loading_explains(a, b, moved, sign)) {
    return moved_syncs(a, b, sign);
  }
  return moved_stage(a, b, sign);
}

/// What the host does now and then, in ms a step.
std::optional<MovedReason> moved_event(const Side& a, const Side& b, double sign) {
  std::map<trace::HostWorkKind, MovedReason> events;
  const auto add = [&](const Side& side, double MovedReason::*where) {
    const double steps = std::max(1.0, sum_of(side.first().blocks).of(Amount::kSteps));
    for (const diagnose::NamedEvent& event : side.first().events) {
      if (event.total_us <= 0) continue;
      MovedReason& reason = events[event.kind];
      reason.kind = MovedBy::kEvent;
      reason.event = event.kind;
      if (!event.place.empty()) reason.place = event.place;
      reason.*where += event.total_us / 1e3 / steps;
    }
  };
  add(a, &MovedReason::a);
  add(b, &MovedReason::b);
  std::vector<MovedReason> all;
  for (auto& [kind, reason] : events) all.push_back(std::move(reason));
  return largest(std::move(all), sign);
}

/// Of several, the one that explains most of `change_ms`, if it explains a third.
std::optional<MovedReason> the_more(const std::optional<MovedReason>& one,
                                    const std::optional<MovedReason>& other, double change_ms) {
  const auto weight = [&](const std::optional<MovedReason>& reason) {
    return reason ? std::abs(reason->b - reason->a) : 0;
  };
  const std::optional<MovedReason>& more = weight(one) >= weight(other) ? one : other;
  constexpr double kTells = 1.0 / 3;
  return weight(more) >= kTells * std::abs(change_ms) ? more : std::nullopt;
}

std::optional<MovedReason> why_host(const Side& a, const Side& b, double sign, double change_ms) {
  const auto line = moved_line(a.first().own_code, value(a, "host_ms_per_step"), b.first().own_code,
                               value(b, "host_ms_per_step"), sign);
  if (const auto reason = the_more(moved_event(a, b, sign), line, change_ms)) return reason;
  return moved_signal(MovedBy::kLaunches, a.first().signals.launches_per_step,
                      b.first().signals.launches_per_step, sign, false);
}

std::optional<MovedReason> why_sync(const Side& a, const Side& b, double sign) {
  const auto line = moved_sync_line(a, b, sign);
  return line ? line : moved_syncs(a, b, sign);
}

std::optional<MovedReason> why_computes(const Side& a, const Side& b, double sign) {
  const diagnose::Signals& of_a = a.first().signals;
  const diagnose::Signals& of_b = b.first().signals;
  for (const auto& reason : {moved_signal(MovedBy::kFloatProducts, of_a.float_product_ratio,
                                          of_b.float_product_ratio, sign, true),
                             moved_signal(MovedBy::kMemoryKernels, of_a.memory_kernel_ratio,
                                          of_b.memory_kernel_ratio, sign, true),
                             moved_signal(MovedBy::kLaunches, of_a.launches_per_step,
                                          of_b.launches_per_step, sign, false)}) {
    if (reason) return reason;
  }
  return std::nullopt;
}

std::optional<MovedReason> why_copies(const Side& a, const Side& b, double sign) {
  const diagnose::Signals& of_a = a.first().signals;
  const diagnose::Signals& of_b = b.first().signals;
  const auto pageable =
      moved_signal(MovedBy::kPageable, of_a.pageable_ratio, of_b.pageable_ratio, sign, true);
  return pageable ? pageable
                  : moved_signal(MovedBy::kCopiedBytes, of_a.h2d_bytes_per_step,
                                 of_b.h2d_bytes_per_step, sign, false);
}

std::optional<MovedReason> why(const Side& a, const Side& b, const PartTime& moved) {
  const double sign = moved.change_us() > 0 ? 1 : -1;
  constexpr double kMsOfUs = 1e-3;
  if (moved.part == "input_wait") return why_waits(a, b, moved, sign);
  if (moved.part == "launch" || moved.part == "own_work") {
    return why_host(a, b, sign, moved.change_us() * kMsOfUs);
  }
  if (moved.part == "sync") return why_sync(a, b, sign);
  if (moved.part == "gpu_compute") return why_computes(a, b, sign);
  if (moved.part == "exposed_copy") return why_copies(a, b, sign);
  return std::nullopt;
}

}  // namespace

std::vector<PartTime> part_times(const Side& a, const Side& b, double us_a, double us_b) {
  if (a.first().parts_of_gpu != b.first().parts_of_gpu) return {};
  const Parts of_a = mean_parts(a);
  const Parts of_b = mean_parts(b);
  if (of_a.empty() || of_b.empty()) return {};
  std::set<std::string> names;
  for (const auto& [part, share] : of_a) names.insert(part);
  for (const auto& [part, share] : of_b) names.insert(part);
  std::vector<PartTime> times;
  for (const std::string& part : names) {
    const double share_a = of(of_a, part);
    const double share_b = of(of_b, part);
    times.push_back({part, share_a, share_b, share_a * us_a, share_b * us_b});
  }
  std::stable_sort(times.begin(), times.end(), [](const PartTime& one, const PartTime& other) {
    return std::abs(one.change_us()) > std::abs(other.change_us());
  });
  return times;
}

std::optional<Moved> grown_part(const Side& a, const Side& b, const std::vector<PartTime>& parts,
                                std::string_view part) {
  for (const PartTime& one : parts) {
    if (one.part == part && one.change_us() > 0) return Moved{one, why(a, b, one)};
  }
  return std::nullopt;
}

std::optional<Moved> find_moved(const Side& a, const Side& b, const std::vector<PartTime>& parts) {
  double whole_us = 0;
  for (const PartTime& part : parts) whole_us += part.change_us();
  for (const PartTime& part : parts) {
    if (part.change_us() * whole_us > 0) return Moved{part, why(a, b, part)};
  }
  return std::nullopt;
}

}  // namespace unstarve::compare
