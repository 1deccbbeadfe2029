#include "launch/emulation/emulation_use.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace unstarve::launch {

namespace {

constexpr std::size_t kMissingMax = 200;

// A loop over values reads thousands in this time, with a few kernels for each; training and
// evaluation launch far more kernels for a value, or bring in data.
constexpr std::int64_t kLoopNs = 10'000'000'000;
constexpr std::uint64_t kLoopReads = 2'000;
constexpr std::uint64_t kLoopKernelsPerRead = 20;
constexpr std::uint64_t kLoopReadsPerCopy = 100;
// A generate() asks once a token whether it has come to its end.
constexpr std::int64_t kNowhereNs = 60'000'000'000;
constexpr std::uint64_t kNowhereReads = 100;

void add(EmulationUse& use, const emulated::GpuTotals& totals) {
  use.kernels += totals.kernels.load();
  use.copies += totals.copies.load();
  use.small_reads += totals.small_reads.load();
  use.kernel_ns += totals.kernel_ns.load();
  use.recorded_kernel_ns += totals.recorded_kernel_ns.load();
  for (std::size_t i = 0; i < use.priced_ns.size(); ++i) use.priced_ns[i] += totals.priced_ns[i];
  const std::int64_t first_ns = totals.first_work_ns.load();
  if (first_ns == 0) return;
  ++use.gpus_used;
  use.span_ns += std::max<std::int64_t>(totals.last_end_ns.load() - first_ns, 0);
}

void add(EmulationUse& use, const emulated::SharedStep& step) {
  const std::int64_t millionths = step.factor_millionths.load(std::memory_order_acquire);
  if (use.step || millionths <= 0) return;
  use.step = {.kernels = step.kernels.load(),
              .seen = step.seen.load(),
              .modelled_s = static_cast<double>(step.modelled_ns.load()) * 1e-9,
              .factor = static_cast<double>(millionths) * 1e-6};
}

bool only_reads_values(const EmulationUse& before, const EmulationUse& now) {
  const std::uint64_t reads = now.small_reads - before.small_reads;
  const std::uint64_t kernels = now.kernels - before.kernels;
  const std::uint64_t copies = now.copies - before.copies;
  const std::uint64_t others = copies - std::min(copies, reads);
  return reads >= kLoopReads && kernels <= reads * kLoopKernelsPerRead &&
         others * kLoopReadsPerCopy <= reads;
}

}  // namespace

EmulationUse UseReader::read() {
  EmulationUse use;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    if (gpus_[i] == nullptr) {
      const auto found =
          emulated::SharedState::look(emulation_.state().path(), static_cast<int>(i));
      if (!found) continue;  // no process has used it
      gpus_[i] = *found;
    }
    add(use, gpus_[i]->totals);
    add(use, gpus_[i]->step);
  }
  return use;
}

std::vector<MissingFunction> UseReader::missing() const {
  std::vector<MissingFunction> found;
  std::ifstream log(emulation_.log_file());
  for (std::string line; found.size() < kMissingMax && std::getline(log, line);) {
    MissingFunction missing;
    std::istringstream words(line);
    words >> missing.library;
    std::getline(words >> std::ws, missing.function);
    const auto is_same = [&](const MissingFunction& other) {
      return other.library == missing.library && other.function == missing.function;
    };
    if (missing.function.empty() || std::any_of(found.begin(), found.end(), is_same)) continue;
    found.push_back(std::move(missing));
  }
  return found;
}

bool LoopWatch::reads_only(const Moment& now) {
  if (!before_) before_ = now;
  if (now.t_ns - before_->t_ns < kLoopNs) return false;
  const bool reads = only_reads_values(before_->use, now.use);
  before_ = now;
  return reads;
}

bool LoopWatch::gets_nowhere(const Moment& now) {
  if (!progress_ || !now.progress || now.progress != progress_->progress) {
    progress_ = now;
    return false;
  }
  return now.t_ns - progress_->t_ns >= kNowhereNs &&
         now.use.small_reads - progress_->use.small_reads >= kNowhereReads;
}

Loop LoopWatch::notices(const EmulationUse& use, std::int64_t now_ns,
                        std::optional<std::int64_t> progress) {
  if (said_) return Loop::kNone;
  const Moment now = {use, now_ns, progress};
  Loop found = Loop::kNone;
  if (gets_nowhere(now)) found = Loop::kNoProgress;
  if (reads_only(now)) found = Loop::kOnlyReads;
  said_ = found != Loop::kNone;
  return found;
}

}  // namespace unstarve::launch
