#pragma once

#include <cstdint>
#include <vector>

#include "host/cpu_energy.h"
#include "host/host_files.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// The energy of the machine's processors since the first reading, once a second. Subject `host`.
class CpuEnergySource final : public Source {
 public:
  explicit CpuEnergySource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "cpu_energy"; }
  void sample(const Tick& tick, SampleBook& book) override;

 private:
  struct Counter {
    host::CpuPackage package;
    std::uint64_t last_uj = 0;
    bool was_read = false;
  };

  Status find_counters();
  Reading<double> read();

  const host::HostFiles& files_;
  std::vector<Counter> counters_;  // none: not found by now
  std::uint64_t total_uj_ = 0;
};

}  // namespace unstarve::observe
