#include "report/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>

#include "base/number_words.h"
#include "base/units.h"
#include "report/words/words.h"

namespace unstarve::report {
namespace {

using trace::HostWorkKind;

/// Times of a run's clock as seconds since it began.
class Clock {
 public:
  explicit Clock(std::int64_t started_ns) : started_ns_(started_ns) {}

  Stretch operator()(const trace::Interval& when) const {
    return {seconds(when.start_ns), seconds(when.end_ns)};
  }

 private:
  double seconds(std::int64_t t_ns) const {
    return static_cast<double>(t_ns - started_ns_) * kSecondsPerNs;
  }

  std::int64_t started_ns_;
};

std::string times_words(std::size_t count, double total_s) {
  return fmt::format("{} time{}, {} in all", count, count == 1 ? "" : "s", seconds_text(total_s));
}

/// What a track holds, for those who do not see it.
void describe(Track& track) {
  double total_s = 0;
  for (const Stretch& stretch : track.stretches) total_s += stretch.end_s - stretch.start_s;
  track.said = times_words(track.stretches.size(), total_s);
}

Track steps_track(const job::Rank& rank, const Clock& clock) {
  Track track{"steps", "step", {}, {}, true};
  double longest_s = 0;
  for (const trace::Step& step : rank.steps) {
    track.stretches.push_back(clock(step.when));
    if (track.stretches.size() > 1) {  // the warm-up is the longest of nearly all
      longest_s =
          std::max(longest_s, track.stretches.back().end_s - track.stretches.back().start_s);
    }
  }
  track.said =
      fmt::format("{}, the first of which is start-up; a taller one took longer, the longest {}",
                  rank.steps.size(), seconds_text(longest_s));
  return track;
}

Track evaluation_track(const job::Rank& rank, const Clock& clock) {
  Track track{"steps with an evaluation", "evaluation", {}, {}};
  for (std::size_t i = 0; i < std::min(rank.steps.size(), rank.phases.size()); ++i) {
    if (rank.phases[i] == job::StepPhase::kEvaluation) {
      track.stretches.push_back(clock(rank.steps[i].when));
    }
  }
  describe(track);
  return track;
}

Track work_track(const job::Rank& rank, std::string label, std::span<const HostWorkKind> kinds,
                 const Clock& clock) {
  Track track{std::move(label), "work", {}, {}};
  for (const trace::HostWork& work : rank.host_work) {
    // A collection at the interpreter's end is no part of the training.
    const bool is_behind = !rank.steps.empty() && work.kind == HostWorkKind::kCollection &&
                           work.when.start_ns >= rank.steps.back().when.end_ns;
    if (!is_behind && std::find(kinds.begin(), kinds.end(), work.kind) != kinds.end()) {
      track.stretches.push_back(clock(work.when));
    }
  }
  describe(track);
  return track;
}

/// When the time passed that a finding speaks of.
Track finding_track(const diagnose::Finding& finding, const diagnose::PartitionedJob& job,
                    const Clock& clock) {
  Track track{finding_words(finding), finding.cause, {}, {}};
  if (const diagnose::DevicePartition* const device = job.worst()) {
    for (const diagnose::IdleSlice& slice : device->idle) {
      if (diagnose::to_string(slice.cause) != finding.cause) continue;
      track.stretches.push_back(clock(slice.when));
    }
  } else if (finding.cause == "input_wait") {
    for (const trace::Interval& wait : job.rank().waits) track.stretches.push_back(clock(wait));
  }
  track.said = percent_text(finding.share) + " of the time";
  return track;
}

/// In the span, what nobody recorded of the device: no finding speaks of that time.
Track unrecorded_track(const diagnose::DevicePartition& device, const Clock& clock) {
  Track track{"GPU not recorded", "unrecorded", {}, {}};
  std::int64_t from_ns = device.span.start_ns;
  const auto add_until = [&](std::int64_t t_ns) {
    if (t_ns > from_ns) track.stretches.push_back(clock({from_ns, t_ns}));
  };
  for (const job::RecordedPart& part : device.parts) {
    add_until(part.when.start_ns);
    from_ns = std::max(from_ns, part.when.end_ns);
  }
  add_until(device.span.end_ns);
  describe(track);
  return track;
}

Track errors_track(const diagnose::Diagnosis& diagnosis) {
  Track track{"errors of a GPU", "failure", {}, {}};
  for (const diagnose::GpuErrorGroup& error : diagnosis.gpu_errors) {
    track.stretches.push_back({error.first_at_s, error.first_at_s});
  }
  track.said = fmt::format("{} kinds, each at its first", track.stretches.size());
  return track;
}

}  // namespace

std::vector<Track> tracks_of(const examine::Examination& examined, std::int64_t started_ns) {
  constexpr std::size_t kMostFindings = 3;
  constexpr std::array kSaves = {HostWorkKind::kSave};
  constexpr std::array kCollections = {HostWorkKind::kCollection};
  constexpr std::array kCompilations = {HostWorkKind::kCompilation, HostWorkKind::kRecompilation};
  const diagnose::PartitionedJob& job = examined.recording->partitioned;
  const job::Rank& rank = job.rank();
  const Clock clock(started_ns);
  std::vector<Track> tracks = {steps_track(rank, clock), evaluation_track(rank, clock),
                               work_track(rank, kSavingTrack, kSaves, clock),
                               work_track(rank, "torch.compile", kCompilations, clock),
                               work_track(rank, "Python's garbage collector", kCollections, clock)};
  const auto& findings = examined.diagnosis.findings;
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    tracks.push_back(finding_track(findings[i], job, clock));
  }
  if (const diagnose::DevicePartition* const device = job.worst()) {
    tracks.push_back(unrecorded_track(*device, clock));
  }
  tracks.push_back(errors_track(examined.diagnosis));
  std::erase_if(tracks, [](const Track& track) { return track.stretches.empty(); });
  return tracks;
}

Reading<double> training_from_s(const examine::Examination& examined, std::int64_t started_ns) {
  const Reading<trace::Interval>& span = examined.recording->partitioned.rank().span;
  if (!span) return span.why_absent();
  return static_cast<double>((*span).start_ns - started_ns) * kSecondsPerNs;
}

Reading<double> training_from_s(const trace::RunReader& run) {
  constexpr std::size_t kLookedAt = 64;
  const auto steps = run.rows_after<trace::StepRow>(0, kLookedAt);
  if (!steps) return WhyAbsent::kNotObserved;
  std::map<std::int64_t, std::size_t> seen;  // by process
  std::int64_t start_ns = 0;
  for (const auto& [row, step] : *steps) {
    const bool is_second = ++seen[step.pid] == 2;
    if (is_second) start_ns = std::max(start_ns, step.when.start_ns);
  }
  if (start_ns == 0) return WhyAbsent::kNotObserved;
  return static_cast<double>(start_ns - run.number("started_ns")) * kSecondsPerNs;
}

Reading<double> training_until_s(const trace::RunReader& run) {
  constexpr std::int64_t kLookedAt = 64;
  const auto last = run.row_before<trace::StepRow>(std::numeric_limits<std::int64_t>::max());
  if (!last) return WhyAbsent::kNotObserved;
  const auto steps = run.rows_after<trace::StepRow>(std::max<std::int64_t>(*last - kLookedAt, 0),
                                                    static_cast<std::size_t>(kLookedAt));
  if (!steps || steps->empty()) return WhyAbsent::kNotObserved;
  std::int64_t end_ns = 0;
  for (const auto& [row, step] : *steps) end_ns = std::max(end_ns, step.when.end_ns);
  return static_cast<double>(end_ns - run.number("started_ns")) * kSecondsPerNs;
}

}  // namespace unstarve::report
