#include "sink/run_follower.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "examine/history/trial_dirs.h"
#include "report/run_page.h"
#include "trace/json/json_text.h"
#include "trial/trial_folder.h"

namespace unstarve::sink {

namespace {

constexpr std::size_t kPortion = 10'000;  // rows that are held at once
constexpr std::int64_t kBetweenNs = kSecondNs / 2;

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  const nlohmann::json json = trace::parse_json(command);
  if (!json.is_array()) return words;
  for (const nlohmann::json& word : json) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

/// Of a folder of trials the run that the others are compared with.
std::string run_to_follow(const std::string& folder) {
  return examine::holds_trials(folder) ? examine::trial_dir(folder, examine::kBefore) : folder;
}

RunEnd end_of(const trace::RunReader& run) {
  RunEnd end;
  end.ended_ns = run.number("ended_ns");
  end.exit_signal = run.number("exit_signal");
  if (end.exit_signal == 0) {
    end.exit_code = run.number("exit_code");
  } else {
    end.exit_code = WhyAbsent::kNotSupported;
  }
  return end;
}

}  // namespace

Result<RunFollower> RunFollower::open(const std::string& folder) {
  auto run = trace::RunReader::open(run_to_follow(folder));
  if (!run) return forward_error(run);
  return RunFollower(folder, *std::move(run));
}

RunFollower::RunFollower(std::string folder, trace::RunReader run)
    : folder_(std::move(folder)), run_dir_(run_to_follow(folder_)), unread_(std::move(run)) {}

Result<RunFollower::Followed> RunFollower::advance(Sink& sink) {
  const auto run = run_as_it_is();
  if (!run) return forward_error(run);
  if (!has_begun_) {
    if (const Status begun = begin(*run, sink); !begun) return forward_error(begun);
  }
  const auto samples = hand_samples(*run, sink);
  if (!samples) return forward_error(samples);
  const auto steps = hand_steps(*run, sink);
  if (!steps) return forward_error(steps);
  if (run->has_ended()) {
    if (const Status ended = sink.ends(end_of(*run)); !ended) return forward_error(ended);
    if (const Status given = give_verdict(sink); !given) return forward_error(given);
  }
  if (const Status flushed = sink.flush(); !flushed) return forward_error(flushed);
  return Followed{*samples + *steps, run->has_ended()};
}

/// What a run says of itself is read when it is opened, so that each portion opens it. In between
/// it is closed: a run that somebody has open at its end stays two files, a log beside the other.
Result<trace::RunReader> RunFollower::run_as_it_is() {
  if (!unread_) return trace::RunReader::open(run_dir_);
  trace::RunReader run = *std::move(unread_);
  unread_.reset();
  return run;
}

Status RunFollower::begin(const trace::RunReader& run, Sink& sink) {
  RunStart start;
  start.run_id = run.info("run_id");
  start.run_dir = run.dir();
  start.host = run.info("host");
  start.command = words_of(run.info("command"));
  start.started_ns = run.number("started_ns");
  start.started_wall_ns = run.number("started_wall_ns");
  has_begun_ = true;
  return sink.begins(start);
}

Result<std::int64_t> RunFollower::hand_samples(const trace::RunReader& run, Sink& sink) {
  std::int64_t handed = 0;
  while (true) {
    const auto samples = run.samples_after(last_sample_, kPortion);
    if (!samples) return forward_error(samples);
    for (const trace::StoredSample& sample : *samples) {
      if (metrics_.count(sample.metric_id) == 0) {
        const auto metrics = run.metrics();
        if (!metrics) return forward_error(metrics);
        for (const trace::MetricRow& metric : *metrics) metrics_[metric.id] = metric;
      }
      const trace::MetricRow& metric = metrics_[sample.metric_id];
      const Status taken = sink.takes(Sample{metric, sample.point.t_ns, sample.point.value});
      if (!taken) return forward_error(taken);
      last_sample_ = sample.row;
    }
    handed += static_cast<std::int64_t>(samples->size());
    if (samples->size() < kPortion) return handed;
  }
}

Result<std::int64_t> RunFollower::hand_steps(const trace::RunReader& run, Sink& sink) {
  std::int64_t handed = 0;
  while (true) {
    const auto steps = run.steps_after(last_step_, kPortion);
    if (!steps) return forward_error(steps);
    for (const trace::StoredStep& step : *steps) {
      if (const Status taken = sink.takes(step.step); !taken) return forward_error(taken);
      last_step_ = step.row;
    }
    handed += static_cast<std::int64_t>(steps->size());
    if (steps->size() < kPortion) return handed;
  }
}

Result<RunFollower::End> RunFollower::follow(Sink& sink, Clock& clock,
                                             const std::function<bool()>& is_stopped) {
  std::int64_t heard_ns = clock.now_ns();
  while (!is_stopped()) {
    const auto followed = advance(sink);
    if (!followed) return forward_error(followed);
    if (followed->has_ended) return End::kEnded;
    const std::int64_t now_ns = clock.now_ns();
    if (followed->rows > 0) heard_ns = now_ns;
    if (now_ns - heard_ns > kSilenceNs) return End::kSilent;
    clock.sleep_until_ns(now_ns + kBetweenNs);
  }
  return End::kStopped;
}

Status RunFollower::give_verdict(Sink& sink) {
  if (!sink.wants_verdict()) return {};
  const auto job = trial::read_trials(folder_, {});
  if (!job) return forward_error(job);
  if (const Status taken = sink.takes(report::make_report(*job)); !taken) return taken;
  return sink.flush();
}

}  // namespace unstarve::sink
