#include "diagnose/ranks/rank_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace unstarve::diagnose {

namespace {

// Lateness below this share of a step is not worth a word.
constexpr double kLate = 0.05;
// Ranks whose steps differ by more do not step together.
constexpr double kSameStep = 1.15;
// One thing is the reason where it makes so much of the lateness.
constexpr double kMostOfIt = 0.5;

using Share = Reading<double> RankRow::*;

bool all_have(const std::vector<RankRow>& rows, Share share) {
  return std::all_of(rows.begin(), rows.end(),
                     [share](const RankRow& row) { return (row.*share).has_value(); });
}

/// Whether each row is a rank of its own, and all of them make the same steps together.
bool step_together(const std::vector<RankRow>& rows) {
  std::set<std::int64_t> processes;
  std::set<std::int64_t> numbers;
  double shortest = 0;
  double longest = 0;
  for (const RankRow& row : rows) {
    if (!row.step_us || *row.step_us <= 0) return false;
    shortest = shortest > 0 ? std::min(shortest, *row.step_us) : *row.step_us;
    longest = std::max(longest, *row.step_us);
    processes.insert(row.process);
    if (row.number) numbers.insert(*row.number);
  }
  if (longest > kSameStep * shortest) return false;
  if (numbers.size() == rows.size()) return true;
  const bool communicate = std::all_of(rows.begin(), rows.end(), [](const RankRow& row) {
    return row.communication.value_or(0) > 0;
  });
  return communicate && processes.size() == rows.size();
}

double mean_without(const std::vector<RankRow>& rows, std::size_t left_out, Share share) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i != left_out) sum += (rows[i].*share).value_or(0);
  }
  return sum / static_cast<double>(rows.size() - 1);
}

/// The row that waits least for the others; `also`: what counts as waiting beside communication.
std::optional<Straggler> least_waiting(const std::vector<RankRow>& rows, Share also) {
  const auto waits = [also](const RankRow& row) {
    return *row.communication + (also == nullptr ? 0 : (row.*also).value_or(0));
  };
  Straggler found;
  double all = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all += waits(rows[i]);
    if (waits(rows[i]) < waits(rows[found.row])) found.row = i;
  }
  const double least = waits(rows[found.row]);
  found.late_ratio = (all - least) / static_cast<double>(rows.size() - 1) - least;
  return found.late_ratio >= kLate ? std::optional(found) : std::nullopt;
}

/// Where no communication was recorded, equal steps say that the others wait elsewhere for the one
/// that waits longest for its loader.
std::optional<Straggler> most_starved(const std::vector<RankRow>& rows) {
  Straggler found;
  found.seen_waiting = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (*rows[i].input_wait > *rows[found.row].input_wait) found.row = i;
  }
  found.late_ratio =
      *rows[found.row].input_wait - mean_without(rows, found.row, &RankRow::input_wait);
  return found.late_ratio >= kLate ? std::optional(found) : std::nullopt;
}

void give_reason(const std::vector<RankRow>& rows, Straggler& straggler) {
  struct Reason {
    std::string_view name;
    Share share;
  };
  constexpr std::array<Reason, 5> kReasons = {{{"input_wait", &RankRow::input_wait},
                                               {"compute", &RankRow::compute},
                                               {"host", &RankRow::host},
                                               {"copy", &RankRow::copy},
                                               {"sync", &RankRow::sync}}};
  for (const Reason& reason : kReasons) {
    if (!all_have(rows, reason.share)) continue;
    const double more = (rows[straggler.row].*reason.share).value_or(0) -
                        mean_without(rows, straggler.row, reason.share);
    if (more < kMostOfIt * straggler.late_ratio || more <= straggler.because_ratio) continue;
    straggler.because = reason.name;
    straggler.because_ratio = more;
  }
}

}  // namespace

std::optional<Straggler> find_straggler(const std::vector<RankRow>& rows) {
  if (rows.size() < 2 || !step_together(rows)) return std::nullopt;
  std::optional<Straggler> found;
  if (all_have(rows, &RankRow::communication)) {
    found = least_waiting(rows, nullptr);
    if (!found) found = least_waiting(rows, &RankRow::sync);
  } else if (all_have(rows, &RankRow::input_wait)) {
    found = most_starved(rows);
  }
  if (found) give_reason(rows, *found);
  return found;
}

double most_that_helps(const RankComparison& ranks) {
  const std::optional<Straggler>& late = ranks.straggler;
  double own = 0;  // the longest of the others' own work, of a step
  for (std::size_t i = 0; late && i < ranks.rows.size(); ++i) {
    const RankRow& row = ranks.rows[i];
    const double waits = late->seen_waiting ? row.communication.value_or(0) : late->late_ratio;
    if (i != late->row) own = std::max(own, 1 - waits - row.input_wait.value_or(0));
  }
  constexpr double kShortest = 0.01;  // more is not to be believed
  return 1 / std::max(own, kShortest);
}

double mean_of_others(const RankComparison& ranks, Share share) {
  return ranks.straggler ? mean_without(ranks.rows, ranks.straggler->row, share) : 0;
}

std::string name_of(const RankRow& row) {
  if (row.number) return fmt::format("rank {}", *row.number);
  if (row.device) return fmt::format("the rank on GPU {}", *row.device);
  return fmt::format("process {}", row.process);
}

}  // namespace unstarve::diagnose
