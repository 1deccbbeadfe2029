#pragma once

#include <sys/types.h>

#include "host/host_files.h"
#include "observe/outside/process_tree.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// The job's processes: CPU ten times a second, the rest once. Subject `job`.
class JobSource final : public Source {
 public:
  JobSource(const host::HostFiles& files, pid_t job) : tree_(files, job) {}
  std::string_view name() const override { return "job"; }
  void sample(const Tick& tick, SampleBook& book) override;

 private:
  void sample_counters(const Tick& tick, SampleBook& book);

  ProcessTree tree_;
  std::int64_t last_ns_ = 0;
  Rate cpu_;
  Rate system_cpu_;
  Rate block_io_;
  std::array<Rate, kTreeCounters> counters_;
};

}  // namespace unstarve::observe
