#pragma once

#include "host/host_files.h"
#include "observe/outside/samples/source.h"

namespace unstarve::observe {

/// What one tick cost us, told by the sampler.
struct TickCost {
  std::int64_t late_ns = 0;  // after its deadline
  std::int64_t cpu_ns = 0;   // of the sampling thread
};

/// What watching costs, once a second. Subject `unstarve`.
class OwnSource final : public Source {
 public:
  explicit OwnSource(const host::HostFiles& files) : files_(files) {}
  std::string_view name() const override { return "unstarve"; }
  void sample(const Tick& tick, SampleBook& book) override;

  void note(const TickCost& cost);
  /// Rows and ring records lost so far.
  void note_losses(std::uint64_t rows, std::uint64_t ring_records);

 private:
  const host::HostFiles& files_;
  std::int64_t late_ns_max_ = 0;
  std::int64_t cpu_ns_ = 0;
  std::int64_t ticks_ = 0;
  std::int64_t since_ns_ = 0;
  std::uint64_t rows_lost_ = 0;
  std::uint64_t ring_records_lost_ = 0;
};

}  // namespace unstarve::observe
