#include "serve/state/step_curves.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "trace/text/hook_text.h"

namespace unstarve::serve {

namespace {

constexpr std::size_t kRows = 50'000;

/// "rank 1"; of a job that has no ranks "training" for its first process, "process 4711" for
/// others.
std::string subject_of(std::int64_t pid, bool is_first, const trace::RunReader& run) {
  const auto processes = run.processes();
  if (processes) {
    for (const trace::ProcessRecord& process : *processes) {
      if (process.row.id.pid != pid) continue;
      const trace::HookText said = trace::parse_hook_text(process.text);
      if (said.ranks > 1) return fmt::format("rank {}", said.rank);
    }
  }
  return is_first ? std::string("training") : fmt::format("process {}", pid);
}

Curve empty_curve(const char* name, const char* unit, const char* description,
                  const std::string& subject) {
  Curve curve;
  curve.metric = {0, name, unit, "the hook", subject, description};
  curve.series.label = subject;
  return curve;
}

}  // namespace

Status StepCurves::update(const trace::RunReader& run) {
  // Of a step that is there its waits are, too, since both are stored when they end.
  if (const Status read = read_waits(run); !read) return read;
  return read_steps(run);
}

Status StepCurves::read_waits(const trace::RunReader& run) {
  while (true) {
    const auto rows = run.rows_after<trace::WaitRow>(last_wait_, kRows);
    if (!rows) return forward_error(rows);
    for (const auto& [row, wait] : *rows) {
      last_wait_ = row;
      training_of(wait.pid, run).waits.push_back(wait.when);
    }
    if (rows->size() < kRows) return {};
  }
}

Status StepCurves::read_steps(const trace::RunReader& run) {
  const std::int64_t started_ns = run.number("started_ns");
  while (true) {
    const auto rows = run.rows_after<trace::StepRow>(last_step_, kRows);
    if (!rows) return forward_error(rows);
    for (const auto& [row, step] : *rows) {
      last_step_ = row;
      if (step.index == 0) continue;  // it holds imports and set-up
      add(step, started_ns, training_of(step.pid, run));
    }
    if (rows->size() < kRows) return {};
  }
}

void StepCurves::add(const trace::StepRow& step, std::int64_t started_ns, Training& training) {
  std::int64_t waited_ns = 0;
  for (const trace::Interval& wait : training.waits) {
    if (wait.start_ns >= step.when.end_ns)
      break;  // that one and those behind it are of later steps
    waited_ns += std::max<std::int64_t>(
        std::min(wait.end_ns, step.when.end_ns) - std::max(wait.start_ns, step.when.start_ns), 0);
  }
  while (!training.waits.empty() && training.waits.front().end_ns <= step.when.end_ns) {
    training.waits.pop_front();
  }
  const double t_s = static_cast<double>(step.when.end_ns - started_ns) * kSecondsPerNs;
  const auto took_ns = static_cast<double>(step.when.duration_ns());
  const auto append = [t_s](Curve& curve, double value) {
    curve.series.t_s.push_back(t_s);
    curve.series.value.push_back(value);
  };
  append(curves_[training.step_curve], took_ns * kSecondsPerNs);
  append(curves_[training.step_curve + 1],
         took_ns > 0 ? std::min(static_cast<double>(waited_ns) / took_ns, 1.0) : 0);
}

StepCurves::Training& StepCurves::training_of(std::int64_t pid, const trace::RunReader& run) {
  const auto [known, is_new] = trainings_.try_emplace(pid);
  if (is_new) {
    const std::string subject = subject_of(pid, curves_.empty(), run);
    known->second.step_curve = curves_.size();
    curves_.push_back(empty_curve("training.step_s", "s", "how long each step took", subject));
    curves_.push_back(empty_curve("training.input_wait_ratio", "ratio",
                                  "the part of each step in which its thread waited for data",
                                  subject));
  }
  return known->second;
}

}  // namespace unstarve::serve
