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

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  const nlohmann::json json = trace::parse_json(command);
  if (!json.is_array()) return words;
  for (const nlohmann::json& word : json) {
    if (word.is_string()) words.push_back(word.get<std::string>());
  }
  return words;
}

}  // namespace

std::string run_to_follow(const std::string& folder) {
  return examine::holds_trials(folder) ? examine::trial_dir(folder, examine::kBefore) : folder;
}

RunFollower::RunFollower(std::string folder, Sink& sink)
    : folder_(std::move(folder)), run_dir_(run_to_follow(folder_)), sink_(sink) {}

Result<RunFollower::Followed> RunFollower::advance() {
  // What a run says of itself is read when it is opened.
  const auto run = trace::RunReader::open(run_dir_);
  if (!run) return forward_error(run);
  if (!has_begun_) {
    if (const Status begun = begin(*run); !begun) return forward_error(begun);
  }
  const auto samples = hand_samples(*run);
  if (!samples) return forward_error(samples);
  const auto steps = hand_steps(*run);
  if (!steps) return forward_error(steps);
  if (run->has_ended()) {
    if (const Status ended = end(*run); !ended) return forward_error(ended);
    if (const Status given = give_verdict(); !given) return forward_error(given);
  }
  if (const Status flushed = sink_.flush(); !flushed) return forward_error(flushed);
  return Followed{*samples + *steps, run->has_ended()};
}

Status RunFollower::begin(const trace::RunReader& run) {
  RunStart start;
  start.run_id = run.info("run_id");
  start.run_dir = run.dir();
  start.host = run.info("host");
  start.command = words_of(run.info("command"));
  start.started_ns = run.number("started_ns");
  start.started_wall_ns = run.number("started_wall_ns");
  has_begun_ = true;
  return sink_.begins(start);
}

Result<std::int64_t> RunFollower::hand_samples(const trace::RunReader& run) {
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
      const Status taken = sink_.takes(Sample{metric, sample.point.t_ns, sample.point.value});
      if (!taken) return forward_error(taken);
      last_sample_ = sample.row;
    }
    handed += static_cast<std::int64_t>(samples->size());
    if (samples->size() < kPortion) return handed;
  }
}

Result<std::int64_t> RunFollower::hand_steps(const trace::RunReader& run) {
  std::int64_t handed = 0;
  while (true) {
    const auto steps = run.steps_after(last_step_, kPortion);
    if (!steps) return forward_error(steps);
    for (const trace::StoredStep& step : *steps) {
      if (const Status taken = sink_.takes(step.step); !taken) return forward_error(taken);
      last_step_ = step.row;
    }
    handed += static_cast<std::int64_t>(steps->size());
    if (steps->size() < kPortion) return handed;
  }
}

Status RunFollower::end(const trace::RunReader& run) {
  RunEnd end;
  end.ended_ns = run.number("ended_ns");
  end.exit_signal = run.number("exit_signal");
  if (end.exit_signal == 0) {
    end.exit_code = run.number("exit_code");
  } else {
    end.exit_code = WhyAbsent::kNotSupported;
  }
  return sink_.ends(end);
}

Status RunFollower::give_verdict() {
  const auto job = trial::read_trials(folder_, {});
  if (!job) return forward_error(job);
  if (const Status taken = sink_.takes(report::make_report(*job)); !taken) return taken;
  return sink_.flush();
}

}  // namespace unstarve::sink
