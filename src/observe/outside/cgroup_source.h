#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "host/cgroup.h"
#include "host/host_files.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// The control group that the job runs in, once a second. Subject `cgroup`.
class CgroupSource final : public Source {
 public:
  CgroupSource(const host::HostFiles& files, pid_t job) : files_(files), job_(job) {}
  std::string_view name() const override { return "cgroup"; }
  void sample(const Tick& tick, SampleBook& book) override;

 private:
  const host::HostFiles& files_;
  pid_t job_;
  bool found_ = false;
  std::int64_t next_limits_ns_ = 0;
  host::CgroupFolders folders_;
  Rate throttled_;
  Rate read_;
  std::array<Rate, 3> pressures_;
};

}  // namespace unstarve::observe
