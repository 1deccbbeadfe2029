#include "trace/events/events_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/testing/test_folder.h"
#include "trace/load_run.h"
#include "trace/run_writer.h"
#include "trace/testing/recorded_rows.h"

namespace unstarve::trace {
namespace {

DeviceOp kernel_at(std::int64_t start_ns) {
  DeviceOp operation;
  operation.start_ns = start_ns;
  operation.end_ns = start_ns + 5;
  operation.correlation = 11;
  operation.bytes = 7;
  operation.device = 1;
  operation.stream = 3;
  operation.kind = DeviceOpKind::kCopy;
  operation.direction = CopyDirection::kDeviceToHost;
  operation.source = MemoryKind::kDevice;
  operation.target = MemoryKind::kPinned;
  return operation;
}

HostCall call_at(std::int64_t start_ns) {
  HostCall call;
  call.start_ns = start_ns;
  call.end_ns = start_ns + 2;
  call.correlation = 11;
  call.thread = 77;
  call.process = 70;
  call.kind = HostCallKind::kLaunch;
  return call;
}

class EventsFile : public testing::Test {
 protected:
  EventsWriter create(std::uint64_t bytes_max = 1 << 20) {
    auto writer = EventsWriter::create(path_, bytes_max);
    EXPECT_TRUE(writer);
    return std::move(*writer);
  }
  /// Three chunks of two events each.
  std::string three_chunks() {
    EventsWriter writer = create();
    for (int chunk = 0; chunk < 3; ++chunk) {
      writer.add(kernel_at(chunk * 10), "kernel " + std::to_string(chunk % 2));
      writer.add(call_at(chunk * 10), "cudaMemcpyAsync");
      writer.set_mark({"gpu-0.ring", static_cast<std::uint64_t>(chunk + 1), 0, 0});
      EXPECT_TRUE(writer.flush());
    }
    return bytes();
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TestFolder folder_;
  std::string path_ = folder_.path() + "/events-0.uev";
};

TEST_F(EventsFile, GivesBackWhatWasWritten) {
  three_chunks();
  RecordedRows rows;
  const Result<EventsReport> report = read_events(path_, rows);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->damage);
  EXPECT_EQ(report->chunks, 3U);
  ASSERT_EQ(rows.operations.size(), 3U);
  ASSERT_EQ(rows.calls.size(), 3U);
  const auto& [operation, name] = rows.operations[2];
  EXPECT_EQ(name, "kernel 0");
  EXPECT_EQ(operation.start_ns, 20);
  EXPECT_EQ(operation.end_ns, 25);
  EXPECT_EQ(operation.correlation, 11);
  EXPECT_EQ(operation.bytes, 7);
  EXPECT_EQ(operation.device, 1);
  EXPECT_EQ(operation.stream, 3);
  EXPECT_EQ(operation.kind, DeviceOpKind::kCopy);
  EXPECT_EQ(operation.direction, CopyDirection::kDeviceToHost);
  EXPECT_EQ(operation.source, MemoryKind::kDevice);
  EXPECT_EQ(operation.target, MemoryKind::kPinned);
  EXPECT_EQ(rows.calls[1].first.thread, 77);
  EXPECT_EQ(rows.calls[1].first.process, 70);
  EXPECT_EQ(rows.calls[1].second, "cudaMemcpyAsync");
  ASSERT_EQ(report->marks.size(), 1U);
  EXPECT_EQ(report->marks.at("gpu-0.ring").position, 3U);
}

TEST_F(EventsFile, FewBytesThatUnpackToMuchAreDamage) {
  EventsWriter writer = create();
  for (int chunk = 0; chunk < 2; ++chunk) {
    for (int i = 0; i < 600'000; ++i) writer.add(kernel_at(1), "k");
    ASSERT_TRUE(writer.flush());
  }
  RecordedRows rows;
  const Result<EventsReport> report = read_events(path_, rows);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->damage) << "77 MB of " << writer.bytes_written();
  EXPECT_EQ(report->events, 600'000U);
}

TEST_F(EventsFile, EachChunkHasTheMarksThatChangedAndTheFileSoManyRings) {
  EventsWriter writer = create(64 << 20);
  const auto mark = [&writer](std::size_t ring, std::uint64_t position) {
    writer.set_mark({"cupti-" + std::to_string(ring) + "-1.ring", position, 0, 0});
    ASSERT_TRUE(writer.flush());
  };
  mark(0, 1);
  const std::uint64_t bytes_for_one_ring = writer.bytes_written();
  for (std::size_t ring = 1; ring < 1000; ++ring) mark(ring, 1);
  EXPECT_LT(writer.bytes_written(), 1100 * bytes_for_one_ring)
      << "chunks do not grow with the rings before";
  for (std::size_t ring = 1000; ring <= kEventRingsMax; ++ring) {
    writer.set_mark({"cupti-" + std::to_string(ring) + "-1.ring", 1, 0, 0});
  }
  mark(0, 2);
  RecordedRows rows;
  const Result<EventsReport> report = read_events(path_, rows);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->damage);
  EXPECT_EQ(report->marks.size(), kEventRingsMax);
  EXPECT_EQ(report->marks.at("cupti-0-1.ring").position, 2U);
}

TEST_F(EventsFile, EveryPrefixGivesWholeChunksAndSaysWhereItEnds) {
  const std::string whole = three_chunks();
  std::size_t most = 0;
  for (std::size_t size = 8; size < whole.size(); ++size) {
    RecordedRows rows;
    const auto report = read_events_bytes(std::string_view(whole).substr(0, size), "x", rows);
    ASSERT_TRUE(report);
    EXPECT_EQ(rows.operations.size(), report->chunks);
    most = std::max(most, rows.operations.size());
    EXPECT_GE(rows.operations.size(), most);
  }
  EXPECT_EQ(most, 2U);
  RecordedRows rows;
  EXPECT_FALSE(read_events_bytes(std::string_view(whole).substr(0, 7), "x", rows));
}

TEST_F(EventsFile, AFlippedByteCostsItsChunkAndThoseBehindIt) {
  const std::string whole = three_chunks();
  for (std::size_t at = 8; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    RecordedRows rows;
    const auto report = read_events_bytes(damaged, "x", rows);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damage) << at;
    EXPECT_LT(rows.operations.size(), 3U);
  }
}

TEST_F(EventsFile, ChunksThatUnpackToTooMuchTogetherAreDamage) {
  const std::string whole = three_chunks();
  RecordedRows rows;
  const auto report = read_events_bytes(whole, "x", rows, {.raw_bytes_max = 500});  // 190 each
  ASSERT_TRUE(report);
  ASSERT_TRUE(report->damage);
  EXPECT_EQ(report->chunks, 2U);
  EXPECT_EQ(rows.operations.size(), 2U);
}

TEST_F(EventsFile, ReadingEndsWithTheChunkThatReachesTheBound) {
  const std::string whole = three_chunks();
  for (const std::uint64_t most : {1U, 2U, 3U, 4U, 5U, 6U}) {
    RecordedRows rows;
    const auto report = read_events_bytes(whole, "x", rows, {.events_max = most});
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->damage);
    EXPECT_EQ(report->chunks, (most + 1) / 2);
    EXPECT_EQ(report->has_more, most < 5) << most;
  }
}

TEST_F(EventsFile, NamesHaveABoundTogether) {
  EventsWriter writer = create(1 << 20);
  const std::size_t fit = kEventNamesBytesMax / kEventNameBytesMax;
  for (std::size_t i = 0; i < fit + 10; ++i) {
    std::string name = std::to_string(i);
    name.resize(kEventNameBytesMax, 'k');
    writer.add(kernel_at(1), name);
    if (i % 1000 == 0) {
      ASSERT_TRUE(writer.flush());
    }
  }
  ASSERT_TRUE(writer.flush());
  RecordedRows rows;
  const auto report = read_events(path_, rows);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->damage) << report->damage->message;
  ASSERT_EQ(rows.operations.size(), fit + 10);
  EXPECT_EQ(rows.operations[fit - 1].second.size(), kEventNameBytesMax);
  EXPECT_EQ(rows.operations[fit].second, "");
}

TEST_F(EventsFile, APipeInItsPlaceIsRefused) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  RecordedRows rows;
  const auto report = read_events(path_, rows);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, "cannot open " + path_ + ": not a regular file");
  EXPECT_EQ(count_events(path_), 0U);
}

TEST_F(EventsFile, AtItsBoundEventsAreCountedAndTheFileStaysWhole) {
  EventsWriter writer = create(400);
  std::uint64_t refused = 0;
  for (int chunk = 0; chunk < 20; ++chunk) {
    writer.add(kernel_at(chunk), "kernel " + std::to_string(chunk));
    if (!writer.flush()) ++refused;
  }
  EXPECT_GT(refused, 0U);
  EXPECT_EQ(writer.dropped(), refused);
  EXPECT_LE(bytes().size(), 400U);
  RecordedRows rows;
  const auto report = read_events(path_, rows);
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->damage);
  EXPECT_EQ(rows.operations.size(), 20U - refused);
}

/// Of its writes the n-th, and for ever those after it, take half of the bytes and fail.
class FullDisk final : public io::Files {
 public:
  FullDisk(int nth, bool for_ever, bool can_cut)
      : nth_(nth), for_ever_(for_ever), can_cut_(can_cut) {}
  Result<std::size_t> write_at(int file, std::uint64_t offset,
                               std::span<const std::byte> bytes) override {
    ++writes_;
    if (writes_ < nth_ || (writes_ > nth_ && !for_ever_)) {
      return io::Files::write_at(file, offset, bytes);
    }
    (void)io::Files::write_at(file, offset, bytes.first(bytes.size() / 2));
    return fail_errno(ENOSPC, "cannot write");
  }
  Status truncate(int file, std::uint64_t size) override {
    if (!can_cut_) return fail_errno(EIO, "cannot cut the file");
    return io::Files::truncate(file, size);
  }

 private:
  const int nth_;
  const bool for_ever_;
  const bool can_cut_;
  int writes_ = 0;
};

TEST_F(EventsFile, AWriteThatFailsCostsItsEventsAlone) {
  for (const bool for_ever : {false, true}) {
    for (const bool can_cut : {true, false}) {
      for (int nth = 2; nth <= 5; ++nth) {
        auto writer = EventsWriter::create(path_, 1 << 20,
                                           std::make_shared<FullDisk>(nth, for_ever, can_cut));
        ASSERT_TRUE(writer);
        std::uint64_t refused = 0;
        for (int chunk = 0; chunk < 5; ++chunk) {
          writer->add(kernel_at(chunk), "kernel " + std::to_string(chunk % 2));
          const Status flushed = writer->flush();
          if (!flushed) ++refused;
        }
        // Behind half a chunk that could not be cut off nothing is written any more.
        EXPECT_EQ(refused, for_ever || !can_cut ? 7U - static_cast<unsigned>(nth) : 1U);
        EXPECT_EQ(writer->dropped(), refused);
        RecordedRows rows;
        const auto report = read_events(path_, rows);
        ASSERT_TRUE(report);
        EXPECT_EQ(report->damage.has_value(), !can_cut);
        ASSERT_EQ(rows.operations.size(), 5U - refused);
        for (const auto& [operation, name] : rows.operations) {
          EXPECT_EQ(name, "kernel " + std::to_string(operation.start_ns % 2));
        }
      }
    }
  }
  const auto none = EventsWriter::create(path_, 1 << 20, std::make_shared<FullDisk>(1, true, true));
  EXPECT_EQ(none.error().message,
            "cannot write device events to " + path_ + ": No space left on device");
}

TEST_F(EventsFile, ANameWhoseChunkWasRefusedIsWrittenAgain) {
  EventsWriter writer = create(250);
  writer.add(kernel_at(1), "first");
  ASSERT_TRUE(writer.flush());
  writer.add(kernel_at(2), std::string(300, 'x') + "second");
  for (int i = 0; i < 500; ++i) writer.add(kernel_at(i * i * i), "third" + std::to_string(i));
  ASSERT_FALSE(writer.flush());
  writer.add(kernel_at(3), "f");
  ASSERT_TRUE(writer.flush());
  RecordedRows rows;
  ASSERT_TRUE(read_events(path_, rows));
  ASSERT_EQ(rows.operations.size(), 2U);
  EXPECT_EQ(rows.operations[1].second, "f");
}

TEST_F(EventsFile, EventsThatAreNotReadEndTheRecording) {
  const std::string dir = folder_.path() + "/run";
  auto writer = *RunWriter::create(dir, RunInfo(), {});
  DeviceOp operation;
  operation.correlation = correlation_of(7, 1);
  for (const std::int64_t start_ns : {310, 410}) {
    operation.start_ns = start_ns;
    operation.end_ns = start_ns + 30;
    writer->add(operation, "gemm");
    ASSERT_TRUE(writer->commit());
  }
  ASSERT_TRUE(writer->finish(1000, 0));
  const Result<LoadedRun> all = load_run_with_remarks(dir, 2);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->remarks.empty());
  EXPECT_TRUE(all->timeline.windows.empty()) << "recorded all the time";
  const Result<LoadedRun> first = load_run_with_remarks(dir, 1);
  ASSERT_TRUE(first);
  EXPECT_THAT(first->remarks, testing::ElementsAre(testing::HasSubstr("its first 1 events")));
  EXPECT_EQ(first->timeline.device_ops.size(), 1U);
  ASSERT_EQ(first->timeline.windows.size(), 1U);
  EXPECT_EQ(first->timeline.windows[0].when.end_ns, 340);
}

TEST_F(EventsFile, AnotherFileIsRefusedByName) {
  std::ofstream(path_) << "{}";
  RecordedRows rows;
  const auto report = read_events(path_, rows);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kCorruptData);
}

}  // namespace
}  // namespace unstarve::trace
