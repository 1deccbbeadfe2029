#include "trace/testing/long_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace unstarve::trace::testing {

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kStart = 5'000 * kSecond;
constexpr std::int64_t kJob = 100;
constexpr std::int64_t kBatch = 32;
constexpr std::int64_t kEvenPeriods = 60;

struct Metric {
  const char* name;
  const char* subject;
};

constexpr std::array<Metric, 13> kOften = {{
    {"gpu.utilization_ratio", "gpu0"},
    {"job.cpu_cores", "job"},
    {"gpu.memory_used_bytes", "gpu0"},
    {"gpu.throttle_reasons", "gpu0"},
    {"gpu.power_w", "gpu0"},
    {"gpu.energy_j", "gpu0"},
    {"gpu.temperature_c", "gpu0"},
    {"gpu.sm_clock_mhz", "gpu0"},
    {"gpu.memory_clock_mhz", "gpu0"},
    {"gpu.pcie_tx_bytes", "gpu0"},
    {"gpu.pcie_rx_bytes", "gpu0"},
    {"gpu.memory_controller_ratio", "gpu0"},
    {"job.busiest_process_cpu_cores", "job"},
}};
constexpr std::array<Metric, 6> kSeldom = {{
    {"job.effective_cores", "job"},
    {"host.cpu_busy_cores", "host"},
    {"job.storage_read_bytes_per_s", "job"},
    {"job.read_call_bytes_per_s", "job"},
    {"unstarve.cpu_cores", "unstarve"},
    {"host.io_pressure_ratio", "host"},
}};
constexpr int kSeldomInAll = 40;

constexpr std::array<const char*, 4> kStacks = {
    R"x({"in":["wait"],"line":"train.py:40","call":"next(batches)","function":"main"})x",
    R"x({"line":"train.py:44","call":"loss.backward()","function":"main"})x",
    R"x({"in":["fetch","decode"],"line":"train.py:12","call":"image.load()"})x",
    R"x({"in":["fetch"],"line":"train.py:14","transform":"RandAugment"})x",
};

}  // namespace

LongJob::LongJob(RunWriter& writer, const LongJobShape& shape)
    : writer_(writer),
      shape_(shape),
      now_ns_(kStart),
      next_sample_ns_(kStart),
      next_look_ns_(kStart + kSecond),
      next_commit_ns_(kStart + kSecond),
      window_opens_ns_(kStart),
      window_closes_ns_(kStart + shape.first_window_ns) {}

double LongJob::random() {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state_ >> 40U) / static_cast<double>(1U << 24U);
}

void LongJob::begin() {
  writer_.add(ProcessRow{{kJob, kStart}, 1, ProcessRole::kMain, kStart});
  writer_.set_process_text(
      {kJob, kStart}, R"({"pid":100,"torch":"2.8","trains_on":{"device":"cuda","build":"cuda"}})");
  for (std::int64_t worker = 1; worker <= 4; ++worker) {
    writer_.add(ProcessRow{{kJob + worker, kStart}, kJob, ProcessRole::kLoaderWorker, kStart});
  }
  writer_.add(DeviceRow{0, "A GPU", false, std::int64_t{80} << 30, ""});
  const auto add = [this](const Metric& metric) {
    return writer_.add_metric({0, metric.name, "", "made up", metric.subject, ""});
  };
  for (const Metric& metric : kOften) often_.push_back(add(metric));
  for (const Metric& metric : kSeldom) seldom_.push_back(add(metric));
  for (int more = static_cast<int>(seldom_.size()); more < kSeldomInAll; ++more) {
    const std::string name = fmt::format("host.made_up_{}", more);
    seldom_.push_back(add({name.c_str(), "host"}));
  }
}

void LongJob::begin_pass() {
  // Its workers live on.
  writer_.add(LoaderRow{kJob, 0, 4, 2, kBatch, LoaderFlags{true, true}, now_ns_, {}, {}});
}

bool LongJob::in_window() {
  if (shape_.window_ns <= 0) return false;
  if (now_ns_ >= window_closes_ns_) {
    writer_.add(
        WindowRow{{kJob, kStart}, window_number_++, window_opens_ns_, window_closes_ns_, 40, 0});
    // As often as the library: after 60 periods half as often whenever the run is twice as old.
    const std::int64_t age = now_ns_ - kStart - shape_.first_window_ns;
    std::int64_t period = shape_.window_period_ns;
    for (std::int64_t even = kEvenPeriods * period; age >= even; even *= 2) period *= 2;
    window_closes_ns_ += period;
    window_opens_ns_ = window_closes_ns_ - shape_.window_ns;
  }
  return now_ns_ >= window_opens_ns_;
}

void LongJob::wait(std::int64_t loader, std::int64_t ns, std::int64_t samples) {
  WaitRow wait;
  wait.pid = wait.thread = kJob;
  wait.loader_id = loader;
  wait.when = {now_ns_, now_ns_ + ns};
  wait.ready_batches = ns < kMs ? 1 : 0;
  wait.samples = samples;
  writer_.add(wait);
  totals_.wait_ns += ns;
  now_ns_ += ns;
}

void LongJob::compute(std::int64_t ns) {
  const bool recorded = in_window();
  const std::int64_t launch_ns = ns / (2 * shape_.kernels);
  std::int64_t runs_ns = now_ns_ + launch_ns;
  for (int i = 0; recorded && i < shape_.kernels; ++i) {
    const std::int64_t called_ns = now_ns_ + i * launch_ns;
    const std::int64_t correlation = correlation_of(kJob, ++correlation_);
    writer_.add(
        HostCall{called_ns, called_ns + 5'000, correlation, kJob, kJob, 0, HostCallKind::kLaunch},
        "cudaLaunchKernel");
    DeviceOp op;
    op.start_ns = std::max(runs_ns, called_ns + 6'000);
    op.end_ns = runs_ns = op.start_ns + (ns - launch_ns) / shape_.kernels - 1'000;
    op.correlation = correlation;
    op.kind = i == 0 ? DeviceOpKind::kCopy : DeviceOpKind::kCompute;
    op.direction = i == 0 ? CopyDirection::kHostToDevice : CopyDirection::kUnknown;
    writer_.add(op, i == 0 ? "copy" : "gemm");
  }
  now_ns_ += ns;
}

void LongJob::step() {
  const std::int64_t began_ns = now_ns_;
  const std::int64_t pass = totals_.steps / shape_.steps_per_pass;
  // One pass of five waits three times as long: what is kept must hold as many of them.
  const double slow = pass % 5 == 4 ? 0.5 : 0.17;
  const auto step_ns = static_cast<double>(shape_.step_ns);
  wait(0, static_cast<std::int64_t>(step_ns * slow * (0.5 + random())), kBatch);
  compute(static_cast<std::int64_t>(step_ns * 0.75 * (0.95 + 0.1 * random())));
  if (totals_.steps % shape_.steps_per_pass == shape_.steps_per_pass - 1) evaluate();
  StepRow row;
  row.pid = row.thread = kJob;
  row.index = totals_.steps;
  row.when = {began_ns, now_ns_};
  row.samples = kBatch;
  writer_.add(row);
  ++totals_.steps;
  totals_.samples += kBatch;
  totals_.step_ns += row.when.duration_ns();
  const auto worker = static_cast<std::size_t>(totals_.steps % 4);
  FetchRow fetch;
  fetch.pid = fetch.thread = kJob + 1 + static_cast<std::int64_t>(worker);
  fetch.loader_id = 0;
  fetch.when = {std::max(fetched_until_ns_[worker], began_ns - 3 * shape_.step_ns), now_ns_};
  fetched_until_ns_[worker] = now_ns_;
  fetch.samples = kBatch;
  const auto cpu = static_cast<double>(fetch.when.duration_ns()) * (0.9 + 0.1 * random());
  fetch.cpu_ns = static_cast<std::int64_t>(cpu);
  fetch.decode_ns = static_cast<std::int64_t>(cpu * 0.6);
  fetch.collate_ns = static_cast<std::int64_t>(cpu * 0.05);
  writer_.add(fetch);
}

void LongJob::evaluate() {
  writer_.add(LoaderRow{kJob, 1, 4, 2, kBatch, LoaderFlags{true}, now_ns_, {}, {}});
  for (int batch = 0; batch < 50; ++batch) {
    wait(1, 10 * kMs, kBatch);
    compute(10 * kMs);
  }
  writer_.add(HostWorkRow{kJob, kJob, HostWorkKind::kSave, {now_ns_, now_ns_ + 200 * kMs}});
  now_ns_ += 200 * kMs;
}

void LongJob::sample() {
  const bool busy = random() < 0.75;
  const auto put = [this](std::int64_t metric, double value) {
    writer_.add(SampleRow{next_sample_ns_, metric, value});
  };
  put(often_[0], busy ? 0.9 : 0.4);
  put(often_[1], 3.5 + random());
  put(often_[2], 20e9);
  put(often_[3], 0);
  for (std::size_t i = 4; i < often_.size(); ++i) put(often_[i], 100 * random());
  if (ticks_++ % 10 != 0) return;
  put(seldom_[0], 4);
  put(seldom_[1], 3.9 + 0.1 * random());
  put(seldom_[2], 1e6 * random());
  put(seldom_[3], 40e6 + 1e6 * random());
  put(seldom_[4], 0.01);
  for (std::size_t i = 5; i < seldom_.size(); ++i) put(seldom_[i], random());
}

// As often as the hook: rarely once the job is old, in workers four times as rarely.
void LongJob::look() {
  constexpr std::int64_t kPeriod = 45 * kMs;
  const std::int64_t age_ns = next_look_ns_ - kStart;
  const std::int64_t wanted = kPeriod * std::max<std::int64_t>(1, age_ns / (60 * kSecond));
  const std::int64_t period = std::min(wanted, kSecond);
  const std::int64_t in_worker = std::min(wanted, 4 * kSecond);
  const bool at_workers = random() < static_cast<double>(period) / static_cast<double>(in_worker);
  for (std::int64_t process = kJob; process <= (at_workers ? kJob + 4 : kJob); ++process) {
    const bool first = random() < 0.3;
    const char* stack = kStacks[(process == kJob ? 0U : 2U) + (first ? 0U : 1U)];
    const std::int64_t stands_for = process == kJob ? period : in_worker;
    writer_.add(StackRow{process, process, next_look_ns_, stands_for, 0}, stack);
  }
  next_look_ns_ += period;
}

void LongJob::sample_until_now() {
  for (; next_sample_ns_ <= now_ns_; next_sample_ns_ += 100 * kMs) sample();
  while (next_look_ns_ <= now_ns_) look();
}

Status LongJob::write() {
  begin();
  const auto end_ns = kStart + static_cast<std::int64_t>(shape_.hours * 3600 * double{kSecond});
  while (now_ns_ < end_ns) {
    if (totals_.steps % shape_.steps_per_pass == 0) begin_pass();
    step();
    sample_until_now();
    if (now_ns_ < next_commit_ns_) continue;
    next_commit_ns_ = now_ns_ + kSecond;
    const auto began = std::chrono::steady_clock::now();
    if (const Status committed = writer_.commit(); !committed) return committed;
    const auto took = std::chrono::steady_clock::now() - began;
    totals_.slowest_commit_us =
        std::max<std::int64_t>(totals_.slowest_commit_us,
                               std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  }
  return {};
}

}  // namespace unstarve::trace::testing
