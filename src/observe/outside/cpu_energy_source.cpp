#include "observe/outside/cpu_energy_source.h"

namespace unstarve::observe {

namespace {

constexpr MetricDescriptor kCpuEnergy{
    "host.cpu_energy_j", "J", "RAPL, /sys/class/powercap/intel-rapl:*/energy_uj",
    "energy of the machine's processors since watching began; differences are meaningful"};

constexpr double kJoulesPerMicrojoule = 1e-6;

}  // namespace

void CpuEnergySource::sample(const Tick& tick, SampleBook& book) {
  if (tick.full_second) book.put(kCpuEnergy, "host", read());
}

Status CpuEnergySource::find_counters() {
  auto packages = host::find_cpu_packages(files_);
  if (!packages) return forward_error(packages);
  for (host::CpuPackage& package : *packages) counters_.push_back({std::move(package)});
  return {};
}

/// Absent where one processor's counter cannot be read: a sum that lacks one is none.
Reading<double> CpuEnergySource::read() {
  if (counters_.empty()) {
    if (const Status found = find_counters(); !found) return why_absent(found.error());
  }
  for (Counter& counter : counters_) {
    const Result<std::uint64_t> now_uj = host::read_energy_uj(files_, counter.package);
    if (!now_uj) return why_absent(now_uj.error());
    if (counter.was_read) {
      total_uj_ += host::energy_since_uj(counter.package, counter.last_uj, *now_uj);
    }
    counter.last_uj = *now_uj;
    counter.was_read = true;
  }
  return static_cast<double>(total_uj_) * kJoulesPerMicrojoule;
}

}  // namespace unstarve::observe
