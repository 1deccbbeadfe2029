#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "base/units.h"
#include "report/headline.h"
#include "sink/sink.h"
#include "sink/wire/output_file.h"
#include "sink/wire/protobuf.h"
#include "sink/wire/second_means.h"

namespace unstarve::sink {

namespace {

/// CRC-32C (Castagnoli), as RFC 3720 has it.
std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> kTable = [] {
    constexpr std::uint32_t kReversed = 0x82F63B78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) {
        value = value >> 1U ^ (value & 1U ? kReversed : 0U);
      }
      table[i] = value;
    }
    return table;
  }();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ crc >> 8U;
  }
  return ~crc;
}

std::string little_endian(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xFFU);
  return bytes;
}

/// The checksum as a TFRecord has it: turned and shifted, since a checksum of bytes that hold
/// checksums says little.
std::string masked_crc(std::string_view bytes) {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  const std::uint32_t crc = crc32c(bytes);
  return little_endian((crc >> 15U | crc << 17U) + kMask, 4);
}

std::string as_record(std::string_view bytes) {
  const std::string size = little_endian(bytes.size(), 8);
  return size + masked_crc(size) + std::string(bytes) + masked_crc(bytes);
}

/// Scalars for TensorBoard: a file of events in a folder of its own. A point lies at the second
/// since the run began, one a second for each metric; the verdict is a text.
class TensorBoardEvents final : public Sink {
 public:
  explicit TensorBoardEvents(OutputFile file) : file_(std::move(file)) {}

  Status begins(const RunStart& run) override {
    started_ns_ = run.started_ns;
    started_s_ = static_cast<double>(run.started_wall_ns) * kSecondsPerNs;
    constexpr int kFileVersion = 3;
    return write(event(0).bytes(kFileVersion, "brain.Event:2"));
  }

  Status takes(const Sample& sample) override {
    if (!sample.value || !std::isfinite(*sample.value)) return {};
    return note(fmt::format("unstarve/{}/{}", sample.metric.subject, sample.metric.name),
                sample.t_ns, *sample.value);
  }

  Status takes(const trace::StepRow& step) override {
    return note("unstarve/training/step_seconds", step.when.end_ns,
                static_cast<double>(step.when.duration_ns()) * kSecondsPerNs);
  }

  Status takes(const trace::WaitRow& wait) override {
    return note("unstarve/training/input_wait_seconds", wait.when.end_ns,
                static_cast<double>(wait.when.duration_ns()) * kSecondsPerNs);
  }

  bool wants_verdict() const override { return true; }

  Status takes(const report::Report& verdict) override {
    if (const Status closed = close(); !closed) return closed;
    std::string words = report::short_headline(verdict);
    if (words.empty()) words = verdict.advice.verdict;
    constexpr int kText = 7;  // DT_STRING
    const std::string shape = Message().bytes(2, Message().varint(1, 1).text()).text();
    const Message tensor = Message().varint(1, kText).bytes(2, shape).bytes(8, words);
    const Message plugin = Message().bytes(1, Message().bytes(1, "text").text());
    return write_value(
        Message().bytes(1, "unstarve/verdict").bytes(9, plugin.text()).bytes(8, tensor.text()),
        last_second_);
  }

  Status flush() override { return file_.flush(); }
  Status finish() override {
    const Status closed = close();
    return closed ? file_.flush() : closed;
  }

 private:
  Message event(std::int64_t second) const {
    Message event;
    event.fixed64(1, started_s_ + static_cast<double>(second));
    event.varint(2, static_cast<std::uint64_t>(second));
    return event;
  }

  Status note(const std::string& tag, std::int64_t t_ns, double value) {
    const auto mean = means_.note(tag, t_ns - started_ns_, value);
    return mean ? write_mean(tag, *mean) : Status{};
  }

  Status close() {
    for (const auto& [tag, mean] : means_.close()) {
      if (const Status written = write_mean(tag, mean); !written) return written;
    }
    return {};
  }

  Status write_mean(const std::string& tag, const SecondMeans::Mean& mean) {
    last_second_ = std::max(last_second_, mean.second);
    return write_value(Message().bytes(1, tag).fixed32(2, static_cast<float>(mean.value)),
                       mean.second);
  }

  Status write_value(const Message& value, std::int64_t second) {
    constexpr int kSummary = 5;
    return write(event(second).bytes(kSummary, Message().bytes(1, value.text()).text()));
  }

  Status write(const Message& event) { return file_.write(as_record(event.text())); }

  OutputFile file_;
  SecondMeans means_;
  std::int64_t started_ns_ = 0;
  double started_s_ = 0;
  std::int64_t last_second_ = 0;
};

Result<std::unique_ptr<Sink>> open_tensorboard(const std::string& target) {
  if (target == "-") {
    return fail(ErrorCode::kInvalidArgument,
                "--as tensorboard writes a file into a folder: name it by --out");
  }
  std::error_code failed;
  std::filesystem::create_directory(target, failed);
  if (failed) return fail(ErrorCode::kIo, "cannot make {}: {}", target, failed.message());
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {'h', 'o', 's', 't'};
  // The name by which TensorBoard knows its files.
  auto file = OutputFile::open(fmt::format("{}/events.out.tfevents.{}.{}.{}.unstarve", target,
                                           wall_time_ns() / kSecondNs, host.data(), ::getpid()));
  if (!file) return forward_error(file);
  return std::make_unique<TensorBoardEvents>(*std::move(file));
}

}  // namespace

SinkKind tensorboard_sink();
SinkKind tensorboard_sink() {
  return {"tensorboard", "scalars; --out is a folder", &open_tensorboard};
}

}  // namespace unstarve::sink
