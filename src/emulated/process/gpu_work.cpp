#include <atomic>
#include <cmath>
#include <utility>

#include "emulated/process/process_gpu.h"
#include "emulated/process/records/recorder_state.h"

// Kernels and the work of libraries.
namespace unstarve::emulated {

namespace {

const KernelClass& class_of(const Kernel& kernel, const DurationModel& model) {
  if (const KernelClass* known = kernel.classified.load(std::memory_order_acquire)) return *known;
  auto* made = new KernelClass(model.classify(kernel.name));
  const KernelClass* expected = nullptr;
  if (kernel.classified.compare_exchange_strong(expected, made)) return *made;
  delete made;  // another thread launched it first at the same time
  return *expected;
}

int host_functions_in(const Operation& operation) {
  if (operation.program) return operation.program->host_functions;
  return operation.engine == Engine::kHostFunction ? 1 : 0;
}

}  // namespace

std::uint32_t current_correlation() {
  const ApiCall* call = ApiCall::innermost();
  return call != nullptr ? call->correlation() : 0;
}

Outcome ProcessGpu::submit(Stream* stream, Operation operation, const DataEffect* effect) {
  use();
  operation.activity.correlation = current_correlation();
  const bool may_fill = operation.engine != Engine::kMark;
  if (may_fill) wait_for_room(stream->lane);
  {
    MutexLock lock(machine_.mutex);
    if (stream->capturing) {
      if (stream->capturing->invalidated) return Outcome::kCaptureInvalidated;
      add_to_capture(*stream, std::move(operation), effect);
      return Outcome::kSuccess;
    }
    if (const Outcome free = machine_.check_default(*stream); free != Outcome::kSuccess)
      return free;
    const std::int64_t issued_ns = now_ns();
    operation.earliest_ns = issued_ns + profile().launch_latency_ns;
    operation.activity.issued_ns = issued_ns;
    // What lands at the operation's end must find the zeros there already: another thread may look
    // at the device at once.
    if (effect != nullptr && operation.landing) {
      machine_.memory.apply(*std::exchange(effect, nullptr));
    }
    if (looks_for_step_) look_for_step(stream->lane, operation);
    machine_.schedule.enqueue(stream->lane, operation);
    machine_.completion.expect_host_functions(host_functions_in(operation));
    if (shared_->use().busy_until_ns.load(std::memory_order_relaxed) < operation.earliest_ns) {
      machine_.publish_busy(*this, issued_ns);
    }
  }
  if (effect != nullptr) machine_.memory.apply(*effect);
  if (Recorder::get().records()) machine_.completion.expect_records();
  return Outcome::kSuccess;
}

void ProcessGpu::look_for_step(LaneId lane, const Operation& operation) {
  const std::int64_t step_ns = machine_.settings().step_ns;
  const auto found = step_finders_.try_emplace(lane, step_ns).first->second.add(operation);
  if (!found) return;
  take_step_factor(found->factor);
  SharedStep& shared = shared_->step();
  shared.kernels.store(found->kernels);
  shared.seen.store(found->seen);
  shared.modelled_ns.store(found->modelled_ns);
  shared.factor_millionths.store(std::llround(found->factor * 1e6), std::memory_order_release);
}

void ProcessGpu::take_step_factor(double factor) {
  looks_for_step_ = false;
  step_finders_.clear();
  machine_.schedule.set_scale(index_, factor);
}

Outcome ProcessGpu::submit_work(Stream* stream, const char* name, const PricedEstimate& priced,
                                const Launch* launch) {
  const Estimate& estimate = priced.estimate;
  Operation operation;
  operation.engine = Engine::kCompute;
  operation.duration_ns = estimate.ns;
  operation.share = static_cast<float>(estimate.share);
  operation.gap_ns = profile().kernel_gap_ns;
  Activity& activity = operation.activity;
  activity.kind = Activity::Kind::kKernel;
  activity.recorded = estimate.source == DurationSource::kRecorded;
  activity.prices = priced.prices;
  activity.name = name;
  activity.grid = {1, 1, 1};
  activity.block = {1, 1, 1};
  if (launch != nullptr) {
    activity.grid = launch->work.grid;
    activity.block = launch->work.block;
    activity.shared_memory_bytes = launch->work.shared_memory_bytes;
    if (machine_.memory.talks_of(index_)) {
      KernelWork work = launch->work;
      work.name = name;
      operation.landing = integers_of(stream, work);
    }
  }
  const DataEffect ran{.kind = DataEffect::Kind::kRan, .gpu = index_, .copy = {}, .value = 0};
  return submit(stream, operation, &ran);
}

Outcome ProcessGpu::launch(Stream* stream, const Kernel* kernel, const Launch& launch) {
  const DurationModel& model = machine_.durations();
  KernelWork work = launch.work;
  work.name = kernel->name;
  const KernelClass& known = class_of(*kernel, model);
  const Estimate estimate = model.estimate(known, work);
  return submit_work(stream, kernel->name,
                     {estimate, machine_.prices().price(estimate, known, work)}, &launch);
}

Outcome ProcessGpu::run(Stream* stream, const char* name, const MatmulWork& work) {
  const Estimate estimate = machine_.durations().estimate(work);
  return submit_work(stream, name, {estimate, machine_.prices().price(estimate, work)}, nullptr);
}

Outcome ProcessGpu::run(Stream* stream, const char* name, const ConvolutionWork& work) {
  const Estimate estimate = machine_.durations().estimate(work);
  return submit_work(stream, name, {estimate, machine_.prices().price(estimate, work)}, nullptr);
}

Outcome ProcessGpu::run(Stream* stream, const char* name, const OtherWork& work) {
  const Estimate estimate = machine_.durations().estimate(work);
  return submit_work(stream, name, {estimate, machine_.prices().price(estimate, work)}, nullptr);
}

Outcome ProcessGpu::run_for(Stream* stream, const char* name, std::int64_t duration_ns) {
  const Estimate known = {.ns = duration_ns};
  return submit_work(stream, name, {known, machine_.prices().same_everywhere(known)}, nullptr);
}

Outcome ProcessGpu::run_gated(Stream* stream, const char* name, const std::shared_ptr<Gate>& gate) {
  Operation operation;
  operation.engine = Engine::kGate;
  operation.gate = gate;
  operation.gap_ns = profile().kernel_gap_ns;
  operation.activity.kind = Activity::Kind::kKernel;
  operation.activity.name = name;
  operation.activity.grid = {1, 1, 1};
  operation.activity.block = {1, 1, 1};
  const DataEffect ran{.kind = DataEffect::Kind::kRan, .gpu = index_, .copy = {}, .value = 0};
  return submit(stream, operation, &ran);
}

void ProcessGpu::count(const Ended& ended) {
  GpuTotals& totals = shared_->totals();
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (ended.activity.kind == Activity::Kind::kKernel) {
    const std::int64_t ns = ended.end_ns - ended.start_ns;
    totals.kernels.fetch_add(1, kRelaxed);
    totals.kernel_ns.fetch_add(ns, kRelaxed);
    for (std::size_t i = 0; i < machine_.prices().kinds(); ++i) {
      totals.priced_ns[i].fetch_add(std::llround(ended.activity.prices[i]), kRelaxed);
    }
    if (ended.activity.recorded) totals.recorded_kernel_ns.fetch_add(ns, kRelaxed);
  } else if (ended.activity.kind == Activity::Kind::kCopy) {
    totals.copies.fetch_add(1, kRelaxed);
  }
  std::int64_t none = 0;
  totals.first_work_ns.compare_exchange_strong(none, ended.start_ns, kRelaxed);
  if (totals.last_end_ns.load(kRelaxed) < ended.end_ns) {
    totals.last_end_ns.store(ended.end_ns, kRelaxed);
  }
}

}  // namespace unstarve::emulated
