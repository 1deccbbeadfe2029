#include "observe/outside/observation.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/mutex.h"

namespace unstarve::observe {

struct Observation::Impl {
  Impl(const SamplerWiring& wiring, const SamplerOptions& options, pid_t job)
      : sampler(wiring, options, job) {}

  void run(const std::stop_token& stop) {
    std::mutex sleeping;
    std::condition_variable_any wake;
    while (!stop.stop_requested()) {
      // libstdc++'s steady clock is CLOCK_MONOTONIC, the clock of the deadlines.
      const auto deadline =
          std::chrono::steady_clock::time_point{std::chrono::nanoseconds{next_deadline()}};
      std::unique_lock<std::mutex> lock(sleeping);
      wake.wait_until(lock, stop, deadline, [] { return false; });
      if (stop.stop_requested()) return;
      const MutexLock sampling(mutex);
      sampler.tick();
    }
  }

  std::int64_t next_deadline() {
    const MutexLock sampling(mutex);
    return sampler.next_deadline_ns();
  }

  mutable Mutex mutex;
  Sampler sampler UNSTARVE_GUARDED_BY(mutex);
  std::optional<ObservationReport> report UNSTARVE_GUARDED_BY(mutex);
  std::jthread thread;
};

Observation::Observation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Observation::~Observation() { stop(); }

Result<std::unique_ptr<Observation>> Observation::start(const SamplerWiring& wiring,
                                                        const SamplerOptions& options, pid_t job) {
  auto impl = std::make_unique<Impl>(wiring, options, job);
  Impl* const state = impl.get();
  try {
    impl->thread = std::jthread([state](const std::stop_token& stop) { state->run(stop); });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kNotSupported,
                "cannot start the thread that watches the job: {}; the job itself is not affected",
                error.what());
  }
  return std::unique_ptr<Observation>(new Observation(std::move(impl)));
}

LiveView Observation::live() const {
  const MutexLock lock(impl_->mutex);
  return impl_->sampler.live();
}

ObservationReport Observation::stop() {
  impl_->thread.request_stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  const MutexLock lock(impl_->mutex);
  if (!impl_->report) impl_->report = impl_->sampler.finish();
  return *impl_->report;
}

}  // namespace unstarve::observe
