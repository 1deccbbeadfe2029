#include "roofline/placing/placing.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "diagnose/signals/conditions.h"
#include "host/host_files.h"
#include "roofline/roofs/gemm/cpu_peak.h"
#include "roofline/roofs/machine.h"
#include "roofline/roofs/store/roofline_store.h"
#include "trace/text/hook_text.h"

namespace unstarve::roofline {

namespace {

bool is_here(const trace::RunReader& run) {
  utsname system{};
  return ::uname(&system) == 0 && run.info("host") == system.nodename;
}

/// Whatever GPUs it has: they are known by the names of their roofs.
bool is_this_machine(const roofline::Machine& kept, const roofline::Machine& here) {
  const auto gib = [](const roofline::Machine& machine) {
    return (machine.memory_bytes + (1ULL << 29)) >> 30;
  };
  return kept.cpu_model == here.cpu_model && kept.cpus == here.cpus && gib(kept) == gib(here) &&
         std::abs(kept.cores_allowed - here.cores_allowed) < 0.001;
}

/// What is known of the machine that the run took place on: nothing where it is not this one.
struct Here {
  bool is_here = false;
  roofline::Machine machine = {};
  roofline::MachineRoofs kept = {};  // of emulated GPUs, or of all that is real
};

Here look_here(const trace::RunReader& run, bool modelled) {
  Here here;
  here.is_here = is_here(run);
  auto machine = roofline::look_at_machine(host::HostFiles());
  if (!here.is_here || !machine) return here;
  here.machine = *std::move(machine);
  io::Files files;
  const roofline::RooflineStore store(files, roofline::RooflineStore::default_folder());
  for (roofline::RooflineDocument& document : store.load_all()) {
    if (document.modelled != modelled || !is_this_machine(document.machine, here.machine)) continue;
    roofline::MachineRoofs& known = document.known;
    std::move(known.roofs.begin(), known.roofs.end(), std::back_inserter(here.kept.roofs));
    std::move(known.absent.begin(), known.absent.end(), std::back_inserter(here.kept.absent));
  }
  return here;
}

/// What the hook of this process counted; of a process that is not known that of any.
trace::FlopText counted_flops(const trace::RunReader& run, std::int64_t process) {
  const auto processes = run.processes();
  if (!processes) return {};
  trace::FlopText found;
  for (const trace::ProcessRecord& each : *processes) {
    if (process != 0 && each.row.id.pid != process) continue;
    trace::FlopText flops = trace::parse_hook_text(each.text).flops;
    if (!flops.by_dtype.empty()) return flops;
    if (!flops.refused.empty() || !flops.device.empty()) found = std::move(flops);
  }
  return found;
}

std::optional<roofline::Position> place_on_gpu(const trace::RunReader& run,
                                               const roofline::StepWork& work) {
  const bool emulated = run.info("device_kind") == "emulated";
  const std::string gpu = run.info("device_name");
  const Here here = look_here(run, emulated);
  return roofline::place(work, roofline::known_roofs(&here.kept, emulated, gpu),
                         {.name = gpu, .modelled = emulated});
}

std::optional<roofline::Position> place_on_cpu(const trace::RunReader& run,
                                               const roofline::StepWork& work) {
  const Here here = look_here(run, false);
  roofline::CpuRoofSources sources = {here.kept, {}, work.flops.threads};
  for (const char* dtype : {"float32", "bfloat16"}) {
    if (!here.is_here) break;
    const auto peak = roofline::product_peak(here.machine, host::HostFiles(), dtype);
    if (peak) sources.peaks[dtype] = *peak;
  }
  return roofline::place(work, roofline::known_cpu_roofs(sources),
                         {.name = here.machine.cpu_model, .is_cpu = true});
}

/// Whether a job without a GPU's record has a place under the CPU's roofs.
bool was_asked_on_cpu(const trace::FlopText& flops, const diagnose::Signals& signals) {
  const bool asked = !flops.refused.empty() || !flops.device.empty();
  return asked && diagnose::trains_on_host(signals);
}

}  // namespace

std::optional<roofline::Position> place_run(const trace::RunReader& run,
                                            const diagnose::PartitionedJob& job,
                                            const diagnose::Signals& signals) {
  const diagnose::DevicePartition* const worst = job.worst();
  trace::FlopText flops = counted_flops(run, job.rank().process);
  if (worst == nullptr && !was_asked_on_cpu(flops, signals)) return std::nullopt;
  roofline::StepWorkSources sources = {job.job, job.rank_index(), std::nullopt};
  if (worst != nullptr) sources.device = worst->device;
  roofline::StepWork work = roofline::step_work(sources);
  work.cores = signals.effective_cpus;
  work.flops = std::move(flops);
  auto position = worst != nullptr ? place_on_gpu(run, work) : place_on_cpu(run, work);
  if (!position) return position;
  const std::size_t ranks = job.job.ranks().size();
  if (worst == nullptr && ranks > 1) {
    position->notes.push_back(fmt::format(
        "{} ranks were recorded; this is one of them, under roofs that those of one machine share.",
        ranks));
  }
  if (!is_here(run)) {
    position->notes.emplace_back(
        "The run is another machine's: what is measured of this one says nothing of it.");
  }
  return position;
}

}  // namespace unstarve::roofline
