#include "tune/batch/batch_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tune/batch/batch_plan.h"
#include "tune/judging/memory.h"
#include "tune/judging/speed.h"

namespace unstarve::tune {

namespace {

constexpr double kVerifiedTimesLonger = 4;  // than a trial
constexpr double kMostTimesLonger = 8;
constexpr double kSameRatio = 0.05;  // of samples a step, beside the ratio of sizes

class BatchSearch {
 public:
  BatchSearch(const BatchRequest& request, std::vector<LeverResult>& rows)
      : request_(request), rows_(rows), first_row_(rows.size()) {}

  /// Where the budget ends before the last run, what was measured stays said.
  Status run() {
    const Status done = run_to_the_end();
    if (done) return done;
    for (const Tried& tried : tried_) {
      LeverResult& row = row_of(tried.id);
      if (!row.is_pending()) continue;
      row.speedup = speedup_between(before_, tried.result, before_, true);
      row.settle(Outcome::kNotMeasured,
                 {ReasonKind::kNotRunForLonger, {}, {quoted(done.error().message)}});
    }
    return done;
  }

 private:
  Status run_to_the_end() {
    auto before = make_as_it_is("batch.before");
    if (!before) return forward_error(before);
    before_ = *std::move(before);
    if (before_.samples_per_step <= 0) {
      refuse(ReasonKind::kStepSamplesUnknown);
      return {};
    }
    explored_.push_back(
        {{}, BatchPlan(point_of({request_.argument.value}, before_), most_memory())});
    Status done = explore(explored_.back(), 0);
    if (!done || is_no_batch_) return done;
    done = explore_with_more_room();
    if (!done) return done;
    auto after = make_as_it_is("batch.after");
    if (!after) return forward_error(after);
    after_ = *std::move(after);
    return propose(ranked());
  }

  using Beside = std::vector<const Lever*>;  // of the request's for memory
  struct Candidate {
    std::int64_t size = 0;
    Beside beside = {};
    double per_sample_s = 0;
  };
  struct Explored {
    Beside beside;
    BatchPlan plan;
  };
  struct Tried {
    std::string id;
    TrialResult result;
  };

  /// Where no loader tells them: rows of the model's input may be no samples (of sequences they are
  /// often the words), but with twice the samples it has twice the numbers.
  void count_samples(TrialResult& result) {
    if (!result.samples_are_rows || result.input_numbers <= 0) return;
    if (numbers_as_it_is_ <= 0) numbers_as_it_is_ = result.input_numbers;
    const double times = result.input_numbers / numbers_as_it_is_;
    result.samples_per_step = static_cast<double>(request_.argument.value) * times;
  }

  Result<TrialResult> make_as_it_is(const std::string& label) {
    TrialRequest request;
    request.label = label;
    request.levers = request_.kept;
    request.until_known = true;
    auto made = request_.make(std::move(request));
    if (made && made->ending != Ending::kMeasured) {
      return fail(ErrorCode::kJobFailed, "{}: {}: {}", label, to_string(made->ending), made->why);
    }
    if (made) count_samples(*made);
    return made;
  }

  /// Nothing of a size was tried.
  void refuse(Reason why) {
    LeverResult row;
    row.lever = argument_lever(request_.argument, request_.argument.value);
    row.lever.id = request_.argument.name;
    row.settle(Outcome::kNotApplicable, std::move(why));
    rows_.push_back(std::move(row));
  }

  std::int64_t most_memory() const {
    return static_cast<std::int64_t>(kMostMemory * static_cast<double>(before_.total_memory_bytes));
  }

  /// By how much faster it is than the batch as it is: of two means of a few steps that differ in
  /// length the difference tells less.
  BatchPoint point_of(const Candidate& candidate, const TrialResult& result) const {
    const double as_it_is_s = before_.mean_step_s / before_.samples_per_step;
    const double faster = speedup_between(before_, result, before_, true).speedup;
    return {candidate.size, true, as_it_is_s / faster, result.used_memory_bytes};
  }

  /// How many times the batch as it is.
  double times(std::int64_t size) const {
    return static_cast<double>(size) / static_cast<double>(request_.argument.value);
  }

  Lever lever_for(const Candidate& candidate) const {
    Lever lever = argument_lever(request_.argument, candidate.size);
    for (const Lever* const beside : candidate.beside) lever = both_levers(lever, *beside);
    return lever;
  }

  TrialRequest request_for(const Candidate& candidate) const {
    TrialRequest request;
    request.label = lever_for(candidate).id;
    request.levers = request_.kept;
    // A lever is one of the hook's at most: of several the last is in the candidate's own.
    for (std::size_t i = 0; i + 1 < candidate.beside.size(); ++i) {
      request.levers.push_back(candidate.beside[i]->id);
    }
    request.levers.push_back(request.label);
    request.times_longer =
        std::clamp(times(candidate.size), 1.0, kMostTimesLonger);  // as many steps
    return request;
  }

  /// Sizes that the plan asks for, from `fewest` on.
  Status explore(Explored& explored, std::int64_t fewest) {
    while (const auto size = explored.plan.next()) {
      if (*size < fewest) return {};
      const auto point = try_size({*size, explored.beside});
      if (!point) return forward_error(point);
      if (is_no_batch_) return {};
      explored.plan.add(*point);
    }
    return {};
  }

  /// Where memory is the limit, and not the data's end: the largest size, and then larger ones,
  /// with each lever that is for memory. Smaller ones need none.
  Status explore_with_more_room() {
    Beside helpful;
    std::int64_t largest = explored_.back().plan.largest_tried();
    bool is_limited = explored_.back().plan.is_limited_by_memory();
    for (const Lever& lever : request_.for_memory) {
      if (!is_limited || data_end_) return {};
      Beside beside = helpful;
      beside.push_back(&lever);
      const auto first = try_size({largest, beside});
      if (!first) return forward_error(first);
      explored_.push_back({beside, BatchPlan(*first, most_memory())});
      const BatchPlan& plan = explored_.back().plan;
      const Status done = explore(explored_.back(), largest);
      if (!done) return done;
      if (plan.largest_tried() <= largest) continue;
      largest = plan.largest_tried();
      is_limited = plan.is_limited_by_memory();
      helpful = std::move(beside);
    }
    return {};
  }

  Result<BatchPoint> try_size(const Candidate& candidate) {
    LeverResult row;
    row.lever = lever_for(candidate);
    request_.introduce(row.lever);
    auto with = request_.make(request_for(candidate));
    if (!with) return forward_error(with);
    count_samples(*with);
    row.tried = true;
    row.cold_s = with->cold_s;
    row.peak_memory_bytes = with->peak_memory_bytes;
    row.latency = with->latency;
    BatchPoint point{candidate.size, false};
    if (with->ending != Ending::kMeasured) {
      row.settle(Outcome::kNotMeasured, ending_reason(*with));
    } else if (!holds_as_many(candidate.size, *with)) {
      is_no_batch_ = tried_.empty();
      data_end_ = !is_no_batch_;
      row.settle(Outcome::kOtherWork, why_other_samples(candidate.size, *with));
    } else {
      point = point_of(candidate, *with);
      point.fits = !row.settle_if(Outcome::kTooMuchMemory, too_much_memory(before_, *with));
      if (point.fits) tried_.push_back({row.lever.id, *std::move(with)});
    }
    rows_.push_back(std::move(row));
    return point;
  }

  bool holds_as_many(std::int64_t size, const TrialResult& with) const {
    const double held = samples_of_step(with, before_) / samples_of_step(before_, with);
    return std::abs(held / times(size) - 1) < kSameRatio;
  }

  Reason why_other_samples(std::int64_t size, const TrialResult& with) const {
    const double held = samples_of_step(with, before_);
    const double expected = samples_of_step(before_, with) * times(size);
    const std::vector<Fact> both = {{"samples", held}, {"expected", expected}};
    if (!is_no_batch_) return {ReasonKind::kDataEnd, both};
    if (held <= 0) return ReasonKind::kNewSamplesUnknown;
    return {ReasonKind::kNotBatchAlone, {both[0], both[1], {"option", request_.argument.option}}};
  }

  LeverResult& row_of(const std::string& id) {
    return *std::find_if(rows_.begin() + static_cast<std::ptrdiff_t>(first_row_), rows_.end(),
                         [&id](const LeverResult& row) { return row.lever.id == id; });
  }

  /// By how much a candidate has to be faster than one without levers: a lever more is worth more
  /// than the noise, but for one that costs no time with a size that does not fit without it.
  double handicap(const Beside& beside, std::int64_t size) const {
    if (beside.empty()) return 1;
    const bool is_needed = size > explored_.front().plan.largest_tried();
    return is_needed && !cost_time(beside) ? 1 : request_.threshold;
  }

  /// The fastest by sample first.
  std::vector<Candidate> ranked() const {
    std::vector<Candidate> found;
    for (const auto& [beside, plan] : explored_) {
      for (const BatchPoint& point : plan.by_speed()) {
        const double per_sample_s = handicap(beside, point.size) * point.per_sample_s;
        found.push_back({point.size, beside, per_sample_s});
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
      return a.per_sample_s < b.per_sample_s;
    });
    return found;
  }

  Status propose(const std::vector<Candidate>& candidates) {
    for (const Tried& tried : tried_) {
      row_of(tried.id).speedup = speedup_between(before_, tried.result, after_, true);
    }
    std::string better;
    bool better_costs_time = false;
    for (const Candidate& candidate : candidates) {
      if (candidate.size == request_.argument.value && candidate.beside.empty()) {
        better = better.empty() ? "the batch as it is" : better;
        continue;
      }
      LeverResult& row = row_of(lever_for(candidate).id);
      if (!better.empty()) {
        const bool too_dear = cost_time(candidate.beside) && !better_costs_time;
        row.settle(
            Outcome::kReplaced,
            {too_dear ? ReasonKind::kBatchTooDear : ReasonKind::kBatchBetter, {{"batch", better}}});
      } else if (row.speedup->low <= request_.threshold) {
        row.settle(Outcome::kWithinNoise, no_certain_gain(request_.threshold));
      } else {
        const auto held = verify(candidate, row);
        if (!held) return forward_error(held);
        if (!*held) continue;
        better = row.lever.id;
        better_costs_time = cost_time(candidate.beside);
      }
    }
    return {};
  }

  static bool cost_time(const Beside& beside) {
    return std::any_of(beside.begin(), beside.end(),
                       [](const Lever* lever) { return lever->saves_memory; });
  }

  /// A run several times as long, with whatever else the job does now and then in it.
  Result<bool> verify(const Candidate& candidate, LeverResult& row) {
    TrialRequest request = request_for(candidate);
    request.label += ".verify";
    request.times_longer *= kVerifiedTimesLonger;
    auto longer = request_.make(std::move(request));
    if (!longer) return forward_error(longer);
    row.peak_memory_bytes = std::max(row.peak_memory_bytes, longer->peak_memory_bytes);
    const bool has_run = longer->ending == Ending::kMeasured;
    if (Reason why = has_run ? too_much_memory(before_, *longer) : ending_reason(*longer)) {
      row.settle(has_run ? Outcome::kTooMuchMemory : Outcome::kNotMeasured,
                 {ReasonKind::kRanAtFirst, {}, {std::move(why)}});
      return false;
    }
    row.settle(Outcome::kProposed, {ReasonKind::kHeld, {{"seconds", longer->wall_s}}});
    row.lever.permanent += "; " + learning_rate_advice(before_.optimizer, times(candidate.size)) +
                           pass_words(longer->steps_of_pass);
    return true;
  }

  const BatchRequest& request_;
  std::vector<LeverResult>& rows_;
  const std::size_t first_row_;
  TrialResult before_;
  TrialResult after_;
  std::vector<Explored> explored_;
  std::vector<Tried> tried_;
  double numbers_as_it_is_ = 0;  // of the model's input in a step; 0: nobody saw them
  bool is_no_batch_ = false;     // the option is something else
  bool data_end_ = false;        // before a size that was tried is full
};

}  // namespace

Status search_batch(const BatchRequest& request, std::vector<LeverResult>& rows) {
  return BatchSearch(request, rows).run();
}

std::string pass_words(double steps_of_pass) {
  constexpr double kFew = 10;
  if (steps_of_pass <= 0 || steps_of_pass > kFew) return "";
  const auto steps = std::lround(steps_of_pass);
  return fmt::format("; a pass over the data is {} step{} then", steps, steps == 1 ? "" : "s");
}

// SGD: Goyal et al. 2017 (arXiv:1706.02677); Adam: Malladi et al. 2022 (arXiv:2205.10287).
std::string learning_rate_advice(const std::string& optimizer, double times) {
  const std::string other = fmt::format(
      "it is another training, of {:.3g} times as many samples a step: compare what it ends at",
      times);
  if (optimizer == "SGD") {
    return other +
           fmt::format("; with SGD try {:.3g} times the learning rate, after a warm-up", times);
  }
  if (optimizer.starts_with("Adam") || optimizer == "NAdam" || optimizer == "RAdam") {
    return other + fmt::format("; with {} try {:.3g} times the learning rate (the square root)",
                               optimizer, std::sqrt(times));
  }
  return other + "; its learning rate has to be found again";
}

}  // namespace unstarve::tune
