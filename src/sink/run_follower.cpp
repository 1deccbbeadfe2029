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
    words.push_back(word.is_string() ? word.get<std::string>() : "");
  }
  return words;
}

/// Hands over portions of rows behind `last`, which is the last one's then, until one is not full.
template <class Read, class Hand>
Result<std::int64_t> hand_all(std::int64_t& last, const Read& rows_after, const Hand& hand) {
  std::int64_t handed = 0;
  while (true) {
    const auto rows = rows_after(last);
    if (!rows) return forward_error(rows);
    for (const auto& stored : *rows) {
      if (const Status taken = hand(stored); !taken) return forward_error(taken);
      last = stored.row;
    }
    handed += static_cast<std::int64_t>(rows->size());
    if (rows->size() < kPortion) return handed;
  }
}

std::map<std::string, std::string> texts_of(const std::string& object) {
  std::map<std::string, std::string> texts;
  const nlohmann::json json = trace::parse_json(object);
  if (!json.is_object()) return texts;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) texts[name] = value.get<std::string>();
  }
  return texts;
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
  const auto rows = hand_new(*run, sink);
  if (!rows) return forward_error(rows);
  if (run->has_ended()) {
    if (const Status ended = sink.ends(end_of(*run)); !ended) return forward_error(ended);
    if (const Status given = give_verdict(sink); !given) return forward_error(given);
  }
  if (const Status flushed = sink.flush(); !flushed) return forward_error(flushed);
  return Followed{*rows, run->has_ended()};
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
  start.unstarve_version = run.info("unstarve_version");
  start.command = words_of(run.info("command"));
  start.started_ns = run.number("started_ns");
  start.started_wall_ns = run.number("started_wall_ns");
  start.is_emulated = run.info("device_kind") == "emulated";
  start.gpu_uuids = words_of(run.info("gpu_uuids"));
  start.scheduler = texts_of(run.info("scheduler"));
  has_begun_ = true;
  return sink.begins(start);
}

Result<std::int64_t> RunFollower::hand_samples(const trace::RunReader& run, Sink& sink) {
  return hand_all(
      last_.sample, [&run](std::int64_t row) { return run.samples_after(row, kPortion); },
      [this, &run, &sink](const trace::StoredSample& stored) -> Status {
        const trace::SeriesPoint& point = stored.point;
        const auto metric = metric_of(run, stored.metric_id);
        if (!metric) return forward_error(metric);
        return sink.takes(Sample{**metric, point.t_ns, point.value});
      });
}

Result<const trace::MetricRow*> RunFollower::metric_of(const trace::RunReader& run,
                                                       std::int64_t id) {
  if (metrics_.count(id) == 0) {
    const auto metrics = run.metrics();
    if (!metrics) return forward_error(metrics);
    for (const trace::MetricRow& metric : *metrics) metrics_[metric.id] = metric;
  }
  return &metrics_[id];
}

template <class Row>
Result<std::int64_t> RunFollower::hand_rows(const trace::RunReader& run, std::int64_t& last,
                                            Sink& sink) {
  return hand_all(
      last, [&run](std::int64_t row) { return run.rows_after<Row>(row, kPortion); },
      [&sink](const trace::Stored<Row>& stored) { return sink.takes(stored.value); });
}

Result<std::int64_t> RunFollower::hand_new(const trace::RunReader& run, Sink& sink) {
  std::int64_t handed = 0;
  const auto add = [&handed](const Result<std::int64_t>& rows) -> Status {
    if (!rows) return forward_error(rows);
    handed += *rows;
    return {};
  };
  Status done = add(hand_samples(run, sink));
  if (done) done = add(hand_rows<trace::StepRow>(run, last_.step, sink));
  if (done) done = add(hand_rows<trace::WaitRow>(run, last_.wait, sink));
  if (done) done = add(hand_rows<trace::SyncRow>(run, last_.sync, sink));
  if (done) done = add(hand_rows<trace::HostWorkRow>(run, last_.host_work, sink));
  if (!done) return forward_error(done);
  return handed;
}

Status RunFollower::begin_at(std::int64_t t_ns) {
  const auto run = trace::RunReader::open(run_dir_);
  if (!run) return forward_error(run);
  const auto leave_out = [](std::int64_t& last, const Result<std::int64_t>& row) -> Status {
    if (!row) return forward_error(row);
    last = *row;
    return {};
  };
  Status done = leave_out(last_.sample, run->row_before<trace::SampleRow>(t_ns));
  if (done) done = leave_out(last_.step, run->row_before<trace::StepRow>(t_ns));
  if (done) done = leave_out(last_.wait, run->row_before<trace::WaitRow>(t_ns));
  if (done) done = leave_out(last_.sync, run->row_before<trace::SyncRow>(t_ns));
  if (done) done = leave_out(last_.host_work, run->row_before<trace::HostWorkRow>(t_ns));
  return done;
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
