#include "observe/outside/sampler.h"

#include <algorithm>

#include "base/units.h"
#include "observe/outside/cgroup_source.h"
#include "observe/outside/cpu_energy_source.h"
#include "observe/outside/gpu_source.h"
#include "observe/outside/host_source.h"
#include "observe/outside/job_source.h"

namespace unstarve::observe {

namespace {

template <typename OneSource>
OneSource& add_source(const host::HostFiles& files, std::vector<std::unique_ptr<Source>>& sources) {
  auto source = std::make_unique<OneSource>(files);
  OneSource& added = *source;
  sources.push_back(std::move(source));
  return added;
}

LibrarySource& add_libraries(const host::HostFiles& files, std::int64_t period_ns,
                             std::vector<std::unique_ptr<Source>>& sources) {
  auto source = std::make_unique<LibrarySource>(
      files, [period_ns](std::int64_t thread) -> Result<std::unique_ptr<host::CodeSamples>> {
        if (period_ns <= 0) return fail(ErrorCode::kNotSupported, "nobody is to look");
        return host::open_code_samples(static_cast<pid_t>(thread), period_ns);
      });
  LibrarySource& added = *source;
  sources.push_back(std::move(source));
  return added;
}

}  // namespace

Sampler::Sampler(const SamplerWiring& wiring, const SamplerOptions& options, pid_t job)
    : wiring_(wiring),
      options_(options),
      book_(*wiring.writer),
      // First among the sources, so that its looks are as old as the tick says.
      fetches_(add_source<FetchSource>(*wiring.files, sources_)),
      libraries_(add_libraries(*wiring.files, options.code_period_ns, sources_)),
      training_(add_source<TrainingSource>(*wiring.files, sources_)),
      workers_(add_source<WorkerSource>(*wiring.files, sources_)),
      rows_(*wiring.writer, fetches_, libraries_, training_, workers_),
      rings_(wiring.writer->dir() + "/rings"),
      started_ns_(wiring.clock->now_ns()),
      next_deadline_ns_(started_ns_),
      next_full_second_ns_(started_ns_),
      next_commit_ns_(started_ns_ + options.commit_every_ns) {
  if (wiring.gpus != nullptr) {
    sources_.push_back(std::make_unique<GpuSource>(*wiring.gpus, *wiring.writer));
  }
  sources_.push_back(std::make_unique<JobSource>(*wiring.files, job));
  sources_.push_back(std::make_unique<CgroupSource>(*wiring.files, job));
  sources_.push_back(std::make_unique<HostSource>(*wiring.files));
  sources_.push_back(std::make_unique<CpuEnergySource>(*wiring.files));
  auto own = std::make_unique<OwnSource>(*wiring.files);
  own_ = own.get();
  sources_.push_back(std::move(own));
}

Tick Sampler::begin_tick() {
  Tick tick;
  tick.number = report_.ticks++;
  tick.now_ns = wiring_.clock->now_ns();
  tick.full_second = tick.now_ns >= next_full_second_ns_;
  if (tick.full_second) next_full_second_ns_ += kSecondNs;
  // After a pause (a laptop's sleep, a stopped process) the seconds that are over stay over.
  next_full_second_ns_ = std::max(next_full_second_ns_, tick.now_ns);
  report_.late_ns_max = std::max(report_.late_ns_max, tick.now_ns - next_deadline_ns_);
  return tick;
}

void Sampler::tick() {
  const std::int64_t cpu_before_ns = thread_cpu_time_ns();
  const std::int64_t deadline_ns = next_deadline_ns_;
  const Tick tick = begin_tick();
  try {
    read_everything(tick);
  } catch (...) {
    ++report_.ticks_failed;  // no memory: what is not read now may be read by the next
  }
  const std::int64_t periods = (wiring_.clock->now_ns() - deadline_ns) / options_.period_ns + 1;
  next_deadline_ns_ = deadline_ns + std::max<std::int64_t>(1, periods) * options_.period_ns;
  report_.ticks_skipped += std::max<std::int64_t>(0, periods - 1);
  const std::int64_t cpu_ns = thread_cpu_time_ns() - cpu_before_ns;
  report_.cpu_ns += cpu_ns;
  own_->note({tick.now_ns - deadline_ns, cpu_ns});
  const trace::WriteLosses losses = wiring_.writer->losses();
  own_->note_losses(losses.rows + losses.events, rings_.lost());
}

void Sampler::read_everything(const Tick& tick) {
  book_.set_time(tick.now_ns);
  for (const std::unique_ptr<Source>& source : sources_) source->sample(tick, book_);
  remember_utilization();
  drain_rings();
  commit_if_due(tick.now_ns);
}

void Sampler::drain_rings() {
  rings_.discover();
  rings_.drain(rows_);
}

void Sampler::commit_if_due(std::int64_t now_ns) {
  if (now_ns < next_commit_ns_) return;
  next_commit_ns_ = now_ns + options_.commit_every_ns;
  committed_ = wiring_.writer->commit().has_value();
  // What was dropped on a full disk can still be had from the rings, by whoever reads the run.
  const trace::WriteLosses losses = wiring_.writer->losses();
  if (committed_ && losses.rows == 0) rings_.remove_finished(losses.events == 0);
}

void Sampler::remember_utilization() {
  if (wiring_.gpus == nullptr) return;
  if (!gpu_is_known_ && !rows_.device().kind.empty()) {
    gpu_is_known_ = true;
    std::vector<std::string> uuids;
    if (const auto gpus = wiring_.gpus->enumerate()) {
      for (const device::GpuDescription& gpu : *gpus) uuids.push_back(gpu.uuid);
    }
    gpu_ = trace::job_gpu(rows_.device(), uuids);
    utilization_.clear();  // of another one
  }
  utilization_.push_back(book_.latest("gpu.utilization_ratio", gpu_.subject()));
  if (utilization_.size() > kLiveTicks) utilization_.pop_front();
}

void Sampler::look_last() {
  const std::int64_t now_ns = wiring_.clock->now_ns();
  book_.set_time(now_ns);
  try {
    for (const std::unique_ptr<Source>& source : sources_) source->finish(now_ns, book_);
  } catch (...) {
    ++report_.ticks_failed;
  }
}

ObservationReport Sampler::finish() {
  look_last();
  drain_rings();
  const Status committed = wiring_.writer->commit();
  report_.elapsed_ns = wiring_.clock->now_ns() - started_ns_;
  report_.ring_records_lost = rings_.lost();
  report_.write_losses = wiring_.writer->losses();
  report_.remarks = rings_.remarks();
  if (report_.ticks_failed > 0) {
    report_.remarks.push_back(fmt::format(
        "{} of {} readings ended early, most likely for want of memory: parts of them are missing",
        report_.ticks_failed, report_.ticks));
  }
  if (const auto& losses = report_.write_losses; losses.rows + losses.events > 0) {
    report_.remarks.push_back(fmt::format(
        "{} rows and {} events could not be written to the run{}{}", losses.rows, losses.events,
        losses.first_error ? ": " : "", losses.first_error ? losses.first_error->message : ""));
  }
  const bool whole =
      committed && report_.write_losses.rows == 0 && report_.write_losses.events == 0;
  if (whole) rings_.remove_all();
  return report_;
}

LiveView Sampler::live() const {
  LiveView view = rows_.counts();
  view.elapsed_ns = wiring_.clock->now_ns() - started_ns_;
  view.ticks = report_.ticks;
  view.latest = book_.latest();
  view.gpu_utilization.assign(utilization_.begin(), utilization_.end());
  return view;
}

}  // namespace unstarve::observe
