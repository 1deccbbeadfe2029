#pragma once

#include <sys/types.h>

#include <memory>

#include "base/result.h"
#include "observe/outside/sampler.h"

namespace unstarve::observe {

/// Watches a job from a thread of its own until stop().
///
///   auto watching = Observation::start(wiring, {}, job->pid());
///   Result<JobExit> end = job->wait();
///   ObservationReport report = (*watching)->stop();   // then RunWriter::finish()
///
/// Nothing that fails while watching touches the job: it is counted and told in the report.
/// Thread rule: live() from any thread; the RunWriter belongs to the sampling thread until stop().
class Observation {
 public:
  /// kNotSupported when no thread can be started.
  static Result<std::unique_ptr<Observation>> start(const SamplerWiring& wiring,
                                                    const SamplerOptions& options, pid_t job);
  /// As stop(), without the report.
  ~Observation();

  /// The state after the last tick.
  LiveView live() const;
  /// Reads everything once more and ends the thread. Again: the same report.
  ObservationReport stop();

 private:
  struct Impl;
  explicit Observation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::observe
