#include "report/compared/comparison_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/number_words.h"
#include "report/costs/cost_words.h"
#include "report/words/words.h"

namespace unstarve::report {

namespace {

using compare::Change;
using compare::Comparison;
using compare::MeasureRow;
using compare::MovedBy;
using compare::MovedReason;
using compare::Unit;

/// "9.1 % more", "2.3 times as much"
std::string more_text(double ratio, std::string_view more, std::string_view less,
                      std::string_view times) {
  constexpr double kInTimes = 1.0;  // from twice as much on
  if (ratio >= kInTimes) return fmt::format("{} times as {}", number_text(1 + ratio), times);
  return fmt::format("{} {}", percent_text(std::abs(ratio)), ratio < 0 ? less : more);
}

std::string interval_words(const Change& change) {
  if (!change.low || !change.high) return {};
  constexpr double kInTimes = 1.0;
  if (change.value >= kInTimes) {
    return fmt::format(" [{}..{}]", number_text(1 + *change.low), number_text(1 + *change.high));
  }
  const double low = change.value < 0 ? -*change.high : *change.low;
  const double high = change.value < 0 ? -*change.low : *change.high;
  return fmt::format(" [{:.1f}..{:.1f}]", 100 * low, 100 * high);
}

std::string ratio_words(double a, double b) {
  if (a <= 0) return "new";
  return more_text(b / a - 1, "more", "less", "much");
}

std::string at_place(const MovedReason& reason) {
  return reason.place.empty() ? std::string() : fmt::format(", {}", reason.place);
}

std::string moved_workers_words(const MovedReason& reason) {
  const auto count = [](double workers) {
    if (workers == 0) return std::string("none");
    return fmt::format("{:.0f} worker process{}", workers, workers == 1 ? "" : "es");
  };
  return fmt::format("its loader has {} where A's has {}", count(reason.b), count(reason.a));
}

std::string moved_line_words(const MovedReason& reason) {
  const std::string what = reason.what.empty() ? reason.place : reason.what;
  const std::string at = reason.what.empty() ? std::string() : at_place(reason);
  const double change_ms = reason.b - reason.a;
  return fmt::format("{}{} takes {} {}", what, at, seconds_text(std::abs(change_ms) * 1e-3),
                     change_ms > 0 ? "more" : "less");
}

std::string moved_event_words(const MovedReason& reason) {
  const std::string name(event_name(reason.event));
  const double change_ms = reason.b - reason.a;
  return fmt::format("{} ({}) takes {} a step {}", name,
                     reason.place.empty() ? "host" : reason.place,
                     seconds_text(std::abs(change_ms) * 1e-3), change_ms > 0 ? "more" : "less");
}

std::string moved_words(const MovedReason& reason) {
  const auto shares = [&](std::string_view what) {
    return fmt::format("{}: {} where A has {}", what, percent_text(reason.b),
                       percent_text(reason.a));
  };
  switch (reason.kind) {
    case MovedBy::kStage:
      return fmt::format("{} takes {} time a sample ({} -> {} ms{})", reason.what,
                         ratio_words(reason.a, reason.b), number_text(reason.a),
                         number_text(reason.b), at_place(reason));
    case MovedBy::kWorkers: return moved_workers_words(reason);
    case MovedBy::kNeighbours:
      return fmt::format("others use {} CPUs beside it, and {} beside A", number_text(reason.b),
                         number_text(reason.a));
    case MovedBy::kWorkerStarts:
      return shares("its worker processes' start is more of the waiting");
    case MovedBy::kLine: return moved_line_words(reason);
    case MovedBy::kEvent: return moved_event_words(reason);
    case MovedBy::kLaunches:
      return fmt::format("a step launches {} operations where A's launches {}",
                         number_text(reason.b), number_text(reason.a));
    case MovedBy::kSyncs:
      return fmt::format("a step waits for the GPU {} times where A's waits {}{}",
                         number_text(reason.b), number_text(reason.a), at_place(reason));
    case MovedBy::kFloatProducts:
      return shares("products that leave tensor cores idle, of the kernels' time");
    case MovedBy::kMemoryKernels: return shares("kernels that move memory, of the kernels' time");
    case MovedBy::kPageable: return shares("bytes copied from pageable memory");
    case MovedBy::kCopiedBytes:
      return fmt::format("a step copies {} to the GPU where A's copies {}", bytes_text(reason.b),
                         bytes_text(reason.a));
  }
  return {};
}

std::string points_words(const compare::PartTime& part) {
  const double points = 100 * (part.share_b - part.share_a);
  constexpr double kNoPoints = 0.5;
  // Of a longer step a part that takes longer may be a smaller share.
  if (std::abs(points) < kNoPoints || points * part.change_us() < 0) {
    return fmt::format("{} {} {}", microseconds_text(std::abs(part.change_us())),
                       part.change_us() > 0 ? "more" : "less", part_words(part.part));
  }
  return fmt::format("{:.{}f} points {} {}", std::abs(points), std::abs(points) < 9.95 ? 1 : 0,
                     points > 0 ? "more" : "less", part_words(part.part));
}

/// Whether the GPU does the same; empty where nobody knows, or where its work is what moved.
std::string gpu_words(const Comparison& comparison) {
  const MeasureRow* const gpu = comparison.row("gpu_ms_per_step");
  if (gpu == nullptr || !gpu->change || comparison.by_sample) return {};
  if (comparison.moved && comparison.moved->part.part == "gpu_compute") return {};
  constexpr double kSame = 0.02;
  if (std::abs(gpu->change->value) < kSame || !gpu->change->is_certain()) {
    return "the GPU's own work is the same";
  }
  return fmt::format("the GPU's own work takes {}",
                     more_text(gpu->change->value, "longer", "less time", "long"));
}

/// What moved beside the time, or without it.
std::string other_measure(const Comparison& comparison) {
  constexpr double kWorthSaying = 0.03;
  for (const char* const id : {"cpu_ms_per_sample", "cpu_ms_per_step", "gpu_ms_per_step",
                               "host_ms_per_step", "input_wait"}) {
    const MeasureRow* const row = comparison.row(id);
    if (row == nullptr || !row->change || !row->change->is_certain()) continue;
    if (std::abs(row->change->value) < kWorthSaying) continue;
    return fmt::format("{} is {}{}", row->words,
                       more_text(row->change->value, "more", "less", "much"),
                       interval_words(*row->change));
  }
  return {};
}

std::string time_words(const Comparison& comparison) {
  const MeasureRow& time = comparison.time();
  const char* const unit = comparison.by_sample ? "sample" : "step";
  if (!time.change) return fmt::format("B's and A's times of a {} cannot be compared", unit);
  const Change& change = *time.change;
  if (!change.is_certain()) {
    return fmt::format("B's time of a {} does not certainly differ: {}", unit,
                       change_text(time.change));
  }
  return fmt::format("B takes {} a {}{}", more_text(change.value, "longer", "less time", "long"),
                     unit, interval_words(change));
}

/// Both values without what they begin and end with alike, where they are long; cut at blanks.
std::pair<std::string, std::string> without_common(const std::string& a, const std::string& b) {
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("not set") : value;
  };
  constexpr std::size_t kLong = 60;
  if (std::max(a.size(), b.size()) < kLong || a.empty() || b.empty()) return {shown(a), shown(b)};
  const auto parted = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = static_cast<std::size_t>(parted.first - a.begin());
  const std::size_t blank = common == 0 ? std::string::npos : a.rfind(' ', common - 1);
  const std::size_t from = blank == std::string::npos ? 0 : blank + 1;
  const auto back = std::mismatch(a.rbegin(), a.rend() - static_cast<std::ptrdiff_t>(from),
                                  b.rbegin(), b.rend() - static_cast<std::ptrdiff_t>(from));
  std::size_t tail = static_cast<std::size_t>(back.first - a.rbegin());
  const std::size_t next = a.find(' ', a.size() - tail);
  tail = next == std::string::npos ? 0 : a.size() - next;
  const auto cut = [&](const std::string& value) {
    const std::string middle = value.substr(from, value.size() - tail - from);
    return fmt::format("{}{}{}", from > 0 ? "... " : "", middle.empty() ? "nothing" : middle,
                       tail > 0 ? " ..." : "");
  };
  return {cut(a), cut(b)};
}

}  // namespace

std::string comparison_headline(const Comparison& comparison) { return time_words(comparison); }

std::string comparison_cause(const Comparison& comparison) {
  if (!comparison.moved) return other_measure(comparison);
  std::string text = points_words(comparison.moved->part);
  if (comparison.moved->reason) text += ", because " + moved_words(*comparison.moved->reason);
  if (const std::string gpu = gpu_words(comparison); !gpu.empty()) text += "; " + gpu;
  return text;
}

std::string comparison_sentence(const Comparison& comparison) {
  const std::string cause = comparison_cause(comparison);
  const char* const mark = cause.empty() ? "" : comparison.moved ? ": " : "; ";
  return comparison_headline(comparison) + mark + cause + ".";
}

std::string noise_note(const Comparison& comparison) {
  if (!comparison.knows_noise()) {
    return "This pair only: how much runs of the same thing differ is not known. Give several of a "
           "side, joined by commas, and it is in the intervals.";
  }
  const MeasureRow& time = comparison.time();
  if (!time.noise_ratio) return {};
  return fmt::format("Runs of the same thing differ by {} ({} of A, {} of B).",
                     percent_text(*time.noise_ratio), comparison.runs_a, comparison.runs_b);
}

std::string value_text(const Reading<double>& value, Unit unit) {
  if (!value) return "-";
  switch (unit) {
    case Unit::kMicroseconds: return microseconds_text(*value);
    case Unit::kMilliseconds: return seconds_text(*value * 1e-3);
    case Unit::kRatio: return percent_cell(*value);
    case Unit::kPerSecond: return number_text(*value);
    case Unit::kBytes: return bytes_text(*value);
    case Unit::kJoules: return number_text(*value) + " J";
  }
  return "-";
}

std::string change_text(const Reading<Change>& change) {
  if (!change) return "-";
  constexpr double kInTimes = 1.0;  // from twice as much on
  const bool in_times = change->value >= kInTimes;
  std::string text =
      in_times ? factor_text(1 + change->value) : fmt::format("{:+.1f} %", 100 * change->value);
  if (!change->low || !change->high) return text;
  if (in_times) {
    return fmt::format("{} [{}..{}]", text, number_text(1 + *change->low),
                       number_text(1 + *change->high));
  }
  return fmt::format("{} [{:+.1f}..{:+.1f}]", text, 100 * *change->low, 100 * *change->high);
}

std::string_view part_words(std::string_view part) {
  struct Words {
    std::string_view part;
    std::string_view words;
  };
  constexpr std::array<Words, 9> kWords = {{{"gpu_compute", "computing on the GPU"},
                                            {"exposed_communication", "waiting for other GPUs"},
                                            {"exposed_copy", "copying to the GPU"},
                                            {"input_wait", "waiting for data"},
                                            {"sync", "being blocked on the GPU"},
                                            {"launch", "the GPU waiting for the host's next work"},
                                            {"kernel_wait", "short gaps between kernels"},
                                            {"own_work", "the training thread's own work"},
                                            {"other", "time that nothing recorded explains"}}};
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const Words& words) { return words.part == part; });
  return found == kWords.end() ? part : found->words;
}

std::string difference_text(const compare::Difference& difference) {
  const auto [a, b] = without_common(difference.a, difference.b);
  return fmt::format("{}{}: {} -> {}",
                     difference.group == compare::SettingGroup::kCommand
                         ? ""
                         : fmt::format("{} ", compare::to_string(difference.group)),
                     difference.name, a, b);
}

std::string finding_text(const compare::FindingOf& finding) {
  return fmt::format("{}{}{} ({})", finding.cause, finding.detail.empty() ? "" : " / ",
                     finding.detail, percent_text(finding.share));
}

std::string_view work_words(const compare::WorkCost& cost) {
  return cost.of_samples ? "1,000 samples" : "1,000 steps";
}

std::vector<WorkCostRow> work_cost_rows(const compare::WorkCost& cost) {
  std::vector<WorkCostRow> rows;
  const auto add = [&](const char* name, const Reading<double>& a, const Reading<double>& b,
                       std::string (*words)(double)) {
    if (!a && !b) return;
    Reading<Change> change;
    if (a && b && *a > 0) change = Change{*b / *a - 1};
    rows.push_back({name, a ? words(*a) : "-", b ? words(*b) : "-", change_text(change)});
  };
  add("GPU time", cost.a.gpu_hours, cost.b.gpu_hours, gpu_time_text);
  add("price", cost.a.usd, cost.b.usd, usd_text);
  add(cost.emulated ? "energy (modelled)" : "energy", cost.a.kwh, cost.b.kwh, energy_text);
  add("CO2e", cost.a.co2_kg, cost.b.co2_kg, mass_text);
  return rows;
}

std::string work_cost_sentence(const compare::WorkCost& cost) {
  if (!cost.month.gpu_hours) return {};
  const auto less = [](double amount) { return amount < 0 ? "more" : "less"; };
  const double hours = *cost.month.gpu_hours;
  std::string text = fmt::format("For what A does in a month B takes {} {}",
                                 gpu_hours_text(std::abs(hours)), less(hours));
  if (cost.month.usd && cost.price_a) {
    text += fmt::format(", {} {} ({} a GPU-hour of A: {})", usd_text(std::abs(*cost.month.usd)),
                        less(*cost.month.usd), usd_text(cost.price_a->value), cost.price_a->source);
  }
  return text + ".";
}

std::vector<const MeasureRow*> shown_rows(const Comparison& comparison) {
  std::vector<const MeasureRow*> rows;
  const MeasureRow* const by_sample = comparison.row("cpu_ms_per_sample");
  const bool cpu_by_sample = by_sample != nullptr && by_sample->a && by_sample->b;
  for (const MeasureRow& row : comparison.measures) {
    const bool same_as_another = (row.id == "sample_time" && !comparison.by_sample) ||
                                 (row.id == "cpu_ms_per_step" && cpu_by_sample);
    if (!same_as_another) rows.push_back(&row);
  }
  return rows;
}

}  // namespace unstarve::report
