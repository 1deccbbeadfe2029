#include "roofline/roofs/measuring/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "roofline/roofs/decode/decode_rate.h"
#include "roofline/roofs/gemm/gemm_roofs.h"
#include "roofline/roofs/memory/bandwidth.h"

namespace unstarve::roofline {

namespace {

// Of the cores that may be used: from there on others are said to disturb.
constexpr double kDisturbingShare = 0.1;

bool is_wanted(const Part& part, const std::vector<std::string>& only) {
  return only.empty() || std::count(only.begin(), only.end(), part.name) > 0;
}

/// What is measured, and as somebody asked for it.
struct Task {
  const Machine& machine;
  const host::HostFiles& files;
  const MeasureOptions& options;
};

void measure_part(const Part& part, const Task& task, std::int64_t duration_ns, Session& session) {
  const auto& [machine, files, options] = task;
  if (part.name == "memory") measure_memory(machine, duration_ns, session);
  if (part.name == "disk") measure_disk(machine, options.disk, duration_ns, session);
  if (part.name == "decode") measure_decode(machine, options.photo_folder, duration_ns, session);
  if (part.name == "gemm") measure_cpu_gemm(machine, files, options.python, duration_ns, session);
  if (part.name == "gpu") measure_gpus(machine, options.gpu, options.python, duration_ns, session);
}

/// What else the machine did, to the conditions of the roofs that were added meanwhile.
void say_others(const Part& part, const Machine& machine, OthersCpu& others, std::size_t first,
                Session& session) {
  const Reading<double> cores = others.cores();
  if (!cores) return;
  session.add_condition(first, "others_cpu_cores", *cores);
  if (*cores < kDisturbingShare * machine.cores_allowed) return;
  session.note(
      fmt::format("other processes kept {:.2g} of the machine's {} CPUs busy while {} was "
                  "measured: an idle machine may reach more",
                  *cores, machine.cpus, part.name));
}

}  // namespace

const std::vector<Part>& all_parts() {
  static const std::vector<Part> kParts = {{"memory", {"memory"}, 0.15},
                                           {"disk", {"page_cache", "disk"}, 0.3},
                                           {"decode", {"decode"}, 0.15},
                                           {"gemm", {"gemm"}, 0.15},
                                           {"gpu", {"gpu"}, 0.25}};
  return kParts;
}

Status check_parts(const std::vector<std::string>& only) {
  for (const std::string& name : only) {
    const auto& parts = all_parts();
    const bool known = std::any_of(parts.begin(), parts.end(),
                                   [&name](const Part& part) { return part.name == name; });
    if (known) continue;
    std::string names;
    for (const Part& part : parts)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", part.name);
    return fail(ErrorCode::kInvalidArgument, "there is no '{}' to measure: {}", name, names);
  }
  return {};
}

void measure(const Machine& machine, const host::HostFiles& files, const MeasureOptions& options,
             Session& session,
             const std::function<void(const std::vector<std::string>& groups)>& part_done) {
  double shares = 0;
  for (const Part& part : all_parts()) {
    if (is_wanted(part, options.only)) shares += part.time_share;
  }
  for (const Part& part : all_parts()) {
    if (!is_wanted(part, options.only)) continue;
    const std::size_t first = session.result().roofs.size();
    OthersCpu others(files, session.clock());
    const double part_s = options.seconds * part.time_share / shares;
    measure_part(part, {machine, files, options}, static_cast<std::int64_t>(part_s * kNsPerS),
                 session);
    say_others(part, machine, others, first, session);
    if (session.stopped()) return;
    part_done(part.groups);
  }
}

}  // namespace unstarve::roofline
