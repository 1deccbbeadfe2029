#include "emulated/engine/step_finder.h"

#include <algorithm>
#include <cmath>

#include "emulated/engine/program.h"

namespace unstarve::emulated {

namespace {

constexpr std::size_t kRepeatsMin = 3;
constexpr std::int64_t kStepsMin = 4;   // asked ones, that a sequence has to go on for
constexpr std::int64_t kStepsKept = 8;  // three of twice the asked length, and some
constexpr std::size_t kHistoryMax = 1 << 20;

// What stands for fills, which have no name.
constexpr std::uintptr_t kFillName = 1;

std::uintptr_t name_of(const Operation& operation) {
  const char* name = operation.activity.name;
  return name != nullptr ? reinterpret_cast<std::uintptr_t>(name) : kFillName;
}

}  // namespace

std::optional<FoundStep> StepFinder::add(const Operation& operation) {
  if (found_ || step_ns_ <= 0) return std::nullopt;
  if (operation.engine == Engine::kGraph && operation.program) {
    return add_work(work_of_graph(operation));
  }
  if (operation.engine == Engine::kCompute) {
    return add_work({name_of(operation), operation.duration_ns, operation.gap_ns});
  }
  if (operation.activity.kind == Activity::Kind::kCopy && !history_.empty()) {
    const std::int64_t copied_ns = operation.duration_ns + operation.gap_ns;
    history_.back().fixed_ns += copied_ns;
    history_ns_ += copied_ns;
  }
  return std::nullopt;
}

/// A graph is one piece of work: its lanes as if they ran one after the other.
StepFinder::Work StepFinder::work_of_graph(const Operation& launch) {
  Work work;
  work.what = reinterpret_cast<std::uintptr_t>(launch.program.get());
  work.fixed_ns = launch.gap_ns;
  for (const Program::Lane& lane : launch.program->lanes) {
    for (const Operation& node : lane.operations) {
      (node.engine == Engine::kCompute ? work.scalable_ns : work.fixed_ns) += node.duration_ns;
      work.fixed_ns += node.gap_ns;
    }
  }
  return work;
}

std::optional<FoundStep> StepFinder::add_work(const Work& work) {
  history_.push_back(work);
  history_ns_ += work.length_ns();
  unseen_ns_ += work.length_ns();
  if (history_.size() >= kHistoryMax) forget_old();
  if (unseen_ns_ < step_ns_ / 2 || history_ns_ < kStepsMin * step_ns_) return std::nullopt;
  unseen_ns_ = 0;
  forget_old();
  const std::optional<FoundStep> step = look();
  if (!step) return std::nullopt;
  found_ = true;
  history_ = {};
  return step;
}

/// The longest border of each beginning (Knuth, Morris, Pratt), of the history read backwards, says
/// with which shortest period each of its ends repeats.
std::optional<FoundStep> StepFinder::look() const {
  const std::size_t count = history_.size();
  const auto kernel_at = [&](std::size_t back) { return history_[count - 1 - back].what; };
  std::vector<std::size_t> border(count, 0);
  std::int64_t covered_ns = count > 0 ? history_.back().length_ns() : 0;
  for (std::size_t i = 1; i < count; ++i) {
    std::size_t matched = border[i - 1];
    while (matched > 0 && kernel_at(matched) != kernel_at(i)) matched = border[matched - 1];
    if (kernel_at(matched) == kernel_at(i)) ++matched;
    border[i] = matched;
    covered_ns += history_[count - 1 - i].length_ns();
    const std::size_t period = i + 1 - matched;
    const std::size_t repeats = (i + 1) / period;
    if (covered_ns < kStepsMin * step_ns_ || repeats < kRepeatsMin) continue;
    if (const auto step = judge(period, repeats)) return step;
  }
  return std::nullopt;
}

std::optional<FoundStep> StepFinder::judge(std::size_t period, std::size_t repeats) const {
  double scalable_ns = 0;
  double fixed_ns = 0;
  for (std::size_t i = history_.size() - period * repeats; i < history_.size(); ++i) {
    scalable_ns += static_cast<double>(history_[i].scalable_ns);
    fixed_ns += static_cast<double>(history_[i].fixed_ns);
  }
  const auto times = static_cast<double>(repeats);
  const double wanted_ns = static_cast<double>(step_ns_) * times - fixed_ns;
  if (scalable_ns <= 0 || wanted_ns < scalable_ns / kFactorMax ||
      wanted_ns > scalable_ns * kFactorMax) {
    return std::nullopt;
  }
  return FoundStep{.kernels = static_cast<std::int64_t>(period),
                   .seen = static_cast<std::int64_t>(repeats),
                   .modelled_ns = std::llround((scalable_ns + fixed_ns) / times),
                   .factor = wanted_ns / scalable_ns};
}

void StepFinder::forget_old() {
  const std::size_t most = kHistoryMax / 2;
  std::size_t gone = history_.size() > most ? history_.size() - most : 0;
  std::int64_t gone_ns = 0;
  for (std::size_t i = 0; i < gone; ++i) gone_ns += history_[i].length_ns();
  while (gone < history_.size() && history_ns_ - gone_ns > kStepsKept * step_ns_) {
    gone_ns += history_[gone++].length_ns();
  }
  history_.erase(history_.begin(), history_.begin() + static_cast<std::ptrdiff_t>(gone));
  history_ns_ -= gone_ns;
}

}  // namespace unstarve::emulated
