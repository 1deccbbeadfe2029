#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/units.h"
#include "sink/sink.h"
#include "sink/wire/output_file.h"
#include "sink/wire/protobuf.h"

namespace unstarve::sink {

namespace {

/// Numbers of the fields that are used here, of protos/perfetto/trace.
namespace field {
constexpr int kTracePacket = 1;
constexpr int kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kTrackDescriptor = 60;
constexpr int kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8;
constexpr int kPid = 1, kProcessName = 6;
constexpr int kUnitName = 6;
constexpr int kAnnotation = 4, kType = 9, kTrack = 11, kCategory = 22, kEventName = 23,
              kDouble = 44;
constexpr int kAnnotationInteger = 4, kAnnotationDouble = 5, kAnnotationText = 6,
              kAnnotationName = 10;
}  // namespace field

enum class EventType : std::uint8_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };

/// A trace for ui.perfetto.dev: for each process its steps and waits for data, for each metric a
/// counter, at the end what was found, and for each finding when its time passed. Times are
/// CLOCK_MONOTONIC, as in the run.
class PerfettoTrace final : public Sink {
 public:
  explicit PerfettoTrace(OutputFile file) : file_(std::move(file)) {}

  Status begins(const RunStart& run) override {
    started_ns_ = run.started_ns;
    Message process;
    process.varint(field::kPid, 0).bytes(field::kProcessName, "unstarve: " + run.run_id);
    return describe(
        Message().varint(field::kUuid, kRunTrack).bytes(field::kProcess, process.text()));
  }

  Status takes(const Sample& sample) override {
    if (!sample.value || !std::isfinite(*sample.value)) return {};
    const auto track = counter_track(sample.metric);
    if (!track) return forward_error(track);
    Message event = event_on(*track, EventType::kCounter);
    return write(sample.t_ns, event.fixed64(field::kDouble, *sample.value));
  }

  Status takes(const trace::StepRow& step) override {
    Message note;
    note.bytes(field::kAnnotationName, "samples");
    if (step.samples) {
      note.varint(field::kAnnotationInteger, static_cast<std::uint64_t>(*step.samples));
    }
    return slice(step.pid, "steps", fmt::format("step {}", step.index), step.when,
                 step.samples ? note.text() : std::string());
  }

  Status takes(const trace::WaitRow& wait) override {
    return slice(wait.pid, "waits for data", "wait for data", wait.when, {});
  }

  Status ends(const RunEnd& end) override {
    ended_ns_ = end.ended_ns;
    return {};
  }

  bool wants_verdict() const override { return true; }

  Status takes(const report::Report& verdict) override {
    for (const report::Track& track : verdict.tracks) {
      if (const Status written = add_stretches(track); !written) return written;
    }
    return add_findings(verdict);
  }

  Status flush() override { return file_.flush(); }

 private:
  static constexpr std::uint64_t kRunTrack = 1;

  /// When a finding's time passed, a gap for each, and what else the job did than train.
  Status add_stretches(const report::Track& track) {
    if (track.kind == "step") return {};  // each process has its own
    const auto below = track_named("verdict " + track.label, [&](std::uint64_t uuid) {
      return Message()
          .varint(field::kUuid, uuid)
          .bytes(field::kName, track.label)
          .varint(field::kParent, kRunTrack);
    });
    if (!below) return forward_error(below);
    for (const report::Stretch& stretch : track.stretches) {
      Message begin = event_on(*below, EventType::kBegin);
      begin.bytes(field::kCategory, track.kind).bytes(field::kEventName, track.label);
      Status written = write(monotonic_ns(stretch.start_s), begin);
      if (written) {
        written = write(monotonic_ns(stretch.end_s), event_on(*below, EventType::kEnd));
      }
      if (!written) return written;
    }
    return {};
  }

  std::int64_t monotonic_ns(double since_start_s) const {
    return started_ns_ + std::llround(since_start_s * static_cast<double>(kSecondNs));
  }

  /// At the end of the time, each finding with its share and evidence.
  Status add_findings(const report::Report& verdict) {
    for (const diagnose::Finding& finding : verdict.diagnosis.findings) {
      Message event = event_on(kRunTrack, EventType::kInstant);
      event.bytes(field::kCategory, "finding");
      event.bytes(field::kEventName,
                  finding.detail.empty() ? finding.cause : finding.cause + ": " + finding.detail);
      event.bytes(field::kAnnotation, Message()
                                          .bytes(field::kAnnotationName, "share")
                                          .fixed64(field::kAnnotationDouble, finding.share)
                                          .text());
      for (const std::string& sentence : finding.evidence) {
        event.bytes(field::kAnnotation, Message()
                                            .bytes(field::kAnnotationName, "evidence")
                                            .bytes(field::kAnnotationText, sentence)
                                            .text());
      }
      if (const Status written = write(std::max(ended_ns_, last_ns_), event); !written) {
        return written;
      }
    }
    return {};
  }

  Status slice(std::int64_t pid, const char* track_name, std::string_view name,
               const trace::Interval& when, const std::string& annotation) {
    const auto track = process_track(pid, track_name);
    if (!track) return forward_error(track);
    Message begin = event_on(*track, EventType::kBegin);
    begin.bytes(field::kCategory, "training").bytes(field::kEventName, name);
    if (!annotation.empty()) begin.bytes(field::kAnnotation, annotation);
    if (const Status written = write(when.start_ns, begin); !written) return written;
    return write(when.end_ns, event_on(*track, EventType::kEnd));
  }

  /// The track of a process's steps or waits; both lie below the process's own.
  Result<std::uint64_t> process_track(std::int64_t pid, const char* name) {
    const auto parent = track_named(fmt::format("{}", pid), [&](std::uint64_t uuid) {
      Message process;
      process.varint(field::kPid, static_cast<std::uint64_t>(pid));
      process.bytes(field::kProcessName, "job");
      return Message().varint(field::kUuid, uuid).bytes(field::kProcess, process.text());
    });
    if (!parent) return parent;
    return track_named(fmt::format("{} {}", pid, name), [&](std::uint64_t uuid) {
      return Message()
          .varint(field::kUuid, uuid)
          .bytes(field::kName, name)
          .varint(field::kParent, *parent);
    });
  }

  Result<std::uint64_t> counter_track(const trace::MetricRow& metric) {
    const std::string name = metric.subject + " " + metric.name;
    return track_named("metric " + name, [&](std::uint64_t uuid) {
      return Message()
          .varint(field::kUuid, uuid)
          .bytes(field::kName, name)
          .varint(field::kParent, kRunTrack)
          .bytes(field::kCounter, Message().bytes(field::kUnitName, metric.unit).text());
    });
  }

  template <class Make>
  Result<std::uint64_t> track_named(const std::string& key, const Make& descriptor) {
    const auto [known, is_new] = tracks_.try_emplace(key, kRunTrack + 1 + tracks_.size());
    if (is_new) {
      const Status described = describe(descriptor(known->second));
      if (!described) return forward_error(described);
    }
    return known->second;
  }

  Status describe(const Message& track) {
    return write_packet(Message().bytes(field::kTrackDescriptor, track.text()));
  }

  static Message event_on(std::uint64_t track, EventType type) {
    Message event;
    event.varint(field::kType, static_cast<std::uint64_t>(type)).varint(field::kTrack, track);
    return event;
  }

  Status write(std::int64_t t_ns, const Message& event) {
    last_ns_ = std::max(last_ns_, t_ns);
    Message packet;
    packet.varint(field::kTimestamp, static_cast<std::uint64_t>(t_ns));
    return write_packet(packet.bytes(field::kTrackEvent, event.text()));
  }

  /// All packets are of one sequence: nothing else writes into the trace.
  Status write_packet(Message packet) {
    packet.varint(field::kSequence, 1);
    return file_.write(Message().bytes(field::kTracePacket, packet.text()).text());
  }

  OutputFile file_;
  std::map<std::string, std::uint64_t> tracks_;
  std::int64_t last_ns_ = 0;
  std::int64_t started_ns_ = 0;
  std::int64_t ended_ns_ = 0;
};

Result<std::unique_ptr<Sink>> open_perfetto(const std::string& target) {
  auto file = OutputFile::open(target);
  if (!file) return forward_error(file);
  return std::make_unique<PerfettoTrace>(*std::move(file));
}

}  // namespace

SinkKind perfetto_sink();
SinkKind perfetto_sink() {
  return {"perfetto", "a trace that ui.perfetto.dev opens", &open_perfetto};
}

}  // namespace unstarve::sink
