#pragma once

#include <array>

#include "host/host_files.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// The whole machine, once a second. Subject `host`.
class HostSource final : public Source {
 public:
  explicit HostSource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "host"; }
  void sample(const Tick& tick, SampleBook& book) override;

 private:
  void sample_cpu(const Tick& tick, SampleBook& book);
  void sample_memory(SampleBook& book);
  void sample_pressure(const Tick& tick, SampleBook& book);

  const host::HostFiles& files_;
  Rate busy_;
  Rate io_wait_;
  std::array<Rate, 3> pressures_;
};

}  // namespace unstarve::observe
