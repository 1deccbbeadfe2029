#include "trial/placing/placing.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/io/files.h"
#include "host/host_files.h"
#include "limits/store/limits_store.h"
#include "trace/hook_text.h"

namespace unstarve::trial {

namespace {

bool is_here(const trace::RunReader& run) {
  utsname system{};
  return ::uname(&system) == 0 && run.info("host") == system.nodename;
}

/// Whatever GPUs it has: they are known by the names of their roofs.
bool is_this_machine(const limits::Machine& kept, const limits::Machine& here) {
  const auto gib = [](const limits::Machine& machine) {
    return (machine.memory_bytes + (1ULL << 29)) >> 30;
  };
  return kept.cpu_model == here.cpu_model && kept.cpus == here.cpus && gib(kept) == gib(here) &&
         std::abs(kept.cores_allowed - here.cores_allowed) < 0.001;
}

/// All that is kept of this machine, of emulated GPUs or of real ones.
limits::MachineRoofs kept_roofs(bool modelled) {
  limits::MachineRoofs all;
  const auto here = limits::look_at_machine(host::HostFiles());
  if (!here) return all;
  io::Files files;
  const limits::LimitsStore store(files, limits::LimitsStore::default_folder());
  for (limits::LimitsDocument& document : store.load_all()) {
    if (document.modelled != modelled || !is_this_machine(document.machine, *here)) continue;
    std::move(document.known.roofs.begin(), document.known.roofs.end(),
              std::back_inserter(all.roofs));
  }
  return all;
}

/// What the hook of this process counted; of a process that is not known that of any.
trace::FlopText counted_flops(const trace::RunReader& run, std::int64_t process) {
  const auto processes = run.processes();
  if (!processes) return {};
  trace::FlopText found;
  for (const trace::ProcessRecord& each : *processes) {
    if (process != 0 && each.row.id.pid != process) continue;
    trace::FlopText said = trace::parse_hook_text(each.text).flops;
    if (!said.by_dtype.empty()) return said;
    if (!said.refused.empty()) found = std::move(said);
  }
  return found;
}

}  // namespace

std::optional<position::Position> place_run(const trace::RunReader& run,
                                            const diagnose::PartitionedJob& job,
                                            const diagnose::Signals& signals) {
  const diagnose::DevicePartition* const worst = job.worst();
  position::StepWorkSources sources = {job.job, job.rank_index(), std::nullopt};
  if (worst == nullptr) return std::nullopt;
  sources.device = worst->device;
  position::StepWork work = position::step_work(sources);
  work.cores = signals.effective_cpus;
  work.flops = counted_flops(run, job.rank().process);
  const bool emulated = run.info("device_kind") == "emulated";
  const std::string gpu = run.info("device_name");
  const bool here = is_here(run);
  const limits::MachineRoofs kept = here ? kept_roofs(emulated) : limits::MachineRoofs{};
  auto position = position::place(work, position::known_roofs(&kept, emulated, gpu), gpu, emulated);
  if (position && !here) {
    position->notes.emplace_back(
        "The run is another machine's: what is measured of this one says nothing of it.");
  }
  return position;
}

}  // namespace unstarve::trial
