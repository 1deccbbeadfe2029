#include "compare/change/change.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "base/statistics.h"
#include "predict/resampling.h"

namespace unstarve::compare {

namespace {

constexpr int kResamples = 1000;
constexpr double kTail = 0.05;  // on either side of an interval

using Blocks = std::vector<StepBlock>;

std::vector<double> values_of(const Measure& measure, const Blocks& blocks) {
  std::vector<double> values;
  for (const StepBlock& block : blocks) {
    const double under = block.of(measure.under);
    if (under > 0) values.push_back(block.of(measure.over) / under);
  }
  return values;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

/// Whether the same steps take long in both runs, as they do where the data decide how long.
bool go_together(const Measure& measure, const Blocks& a, const Blocks& b) {
  constexpr std::size_t kLeast = 8;
  constexpr double kTogether = 0.5;
  if (a.size() != b.size() || a.size() < kLeast) return false;
  const bool same_steps =
      std::equal(a.begin(), a.end(), b.begin(), [](const StepBlock& one, const StepBlock& other) {
        return one.of(Amount::kSteps) == other.of(Amount::kSteps);
      });
  if (!same_steps) return false;
  const std::vector<double> of_a = values_of(measure, a);
  const std::vector<double> of_b = values_of(measure, b);
  return of_a.size() == a.size() && of_b.size() == b.size() && correlation(of_a, of_b) > kTogether;
}

/// The measure of as many blocks, drawn with replacement; nothing where none of them has it.
std::optional<double> drawn(const Measure& measure, const Blocks& blocks,
                            const std::vector<std::size_t>& which) {
  double over = 0;
  double under = 0;
  for (const std::size_t i : which) {
    over += blocks[i].of(measure.over);
    under += blocks[i].of(measure.under);
  }
  if (under <= 0 || over <= 0) return std::nullopt;
  return over / under;
}

std::vector<std::size_t> draw_from(std::size_t size, predict::Draw& draw) {
  std::vector<std::size_t> which(size);
  for (std::size_t& i : which) i = draw.index(size);
  return which;
}

struct Bounds {
  double low = 0;
  double high = 0;
};

/// Of the logarithm of b / a, by resampling both runs' blocks.
std::optional<Bounds> resampled(const Measure& measure, const Blocks& a, const Blocks& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const bool together = go_together(measure, a, b);
  predict::Draw draw(1);
  std::vector<double> ratios;
  for (int i = 0; i < kResamples; ++i) {
    const std::vector<std::size_t> of_a = draw_from(a.size(), draw);
    const auto before = drawn(measure, a, of_a);
    const auto after = drawn(measure, b, together ? of_a : draw_from(b.size(), draw));
    if (before && after) ratios.push_back(std::log(*after / *before));
  }
  if (ratios.size() < kResamples / 2) return std::nullopt;
  return Bounds{quantile(ratios, kTail), quantile(ratios, 1 - kTail)};
}

/// Logarithms of the runs' values; empty where one lacks it.
std::vector<double> logarithms(const Measure& measure, const Runs& runs) {
  std::vector<double> values;
  for (const Blocks& blocks : runs) {
    const Reading<double> value = value_of(measure, blocks);
    if (!value || *value <= 0) return {};
    values.push_back(std::log(*value));
  }
  return values;
}

}  // namespace

Blocks all_blocks(const Runs& runs) {
  Blocks all;
  for (const Blocks& blocks : runs) all.insert(all.end(), blocks.begin(), blocks.end());
  return all;
}

Reading<double> value_of(const Measure& measure, const Blocks& blocks) {
  const StepBlock sum = sum_of(blocks);
  const double under = sum.of(measure.under);
  if (under <= 0) return WhyAbsent::kNotObserved;
  return measure.scale * sum.of(measure.over) / under;
}

Reading<double> noise_of(const Measure& measure, const Runs& a, const Runs& b) {
  const std::vector<double> of_a = logarithms(measure, a);
  const std::vector<double> of_b = logarithms(measure, b);
  if (of_a.empty() || of_b.empty()) return WhyAbsent::kNotObserved;
  const std::size_t freedom = of_a.size() + of_b.size() - 2;
  if (freedom == 0) return WhyAbsent::kNotObserved;
  const double squares = squares_around_mean(of_a) + squares_around_mean(of_b);
  return std::sqrt(squares / static_cast<double>(freedom));
}

Reading<Change> change_between(const Measure& measure, const Runs& a, const Runs& b) {
  const std::vector<double> of_a = logarithms(measure, a);
  const std::vector<double> of_b = logarithms(measure, b);
  if (of_a.empty() || of_b.empty()) return WhyAbsent::kNotObserved;
  const double ratio = mean(of_b) - mean(of_a);
  Change change;
  change.value = std::expm1(ratio);
  std::optional<Bounds> where = resampled(measure, all_blocks(a), all_blocks(b));
  if (const Reading<double> noise = noise_of(measure, a, b)) {
    const auto runs_a = static_cast<double>(of_a.size());
    const auto runs_b = static_cast<double>(of_b.size());
    const auto freedom = static_cast<int>(of_a.size() + of_b.size() - 2);
    const double half = student_95(freedom) * *noise * std::sqrt(1 / runs_a + 1 / runs_b);
    if (!where) where = Bounds{ratio, ratio};
    where = Bounds{std::min(where->low, ratio - half), std::max(where->high, ratio + half)};
  }
  if (where) {
    change.low = std::expm1(where->low);
    change.high = std::expm1(where->high);
  }
  return change;
}

}  // namespace unstarve::compare
