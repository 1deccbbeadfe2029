#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "feed/data/encoded_sample.h"

namespace unstarve::feed {

/// What SampleReader::hint() did.
enum class ReadHint {
  kNone,      // nothing: this source has no use for hints
  kInMemory,  // the sample's first bytes lay in memory already
  kFetching,  // the system was asked to fetch the sample
};

/// What changes whenever a file does: another size, written or put in place at another time.
struct FileStamp {
  std::uint64_t size = 0;  // bytes
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Reads samples for one thread, with memory of its own.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  /// Says that the sample will be read soon, perhaps by another reader. It waits at most for what
  /// it takes to find the sample, not for the sample; failures are for read() to tell.
  virtual ReadHint hint(std::uint64_t /*index*/) { return ReadHint::kNone; }
  /// Valid until the next call. Errors do not name the sample: see SampleSource::locate().
  virtual Result<EncodedSample> read(std::uint64_t index) = 0;
  /// Of the file that holds the sample, with the sample's size; kNotSupported where there is none.
  virtual Result<FileStamp> stamp(std::uint64_t index);
};

/// A data set as the loader sees it: samples by index, each with a label. What is in it does not
/// change while it is open.
/// Thread rule: any thread; each reading thread opens a reader.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// Samples; at most 2^32 - 1.
  virtual std::uint64_t size() const = 0;
  /// The class of a sample; 0 where the data set has none.
  virtual std::int64_t label(std::uint64_t index) const = 0;
  /// Names of the classes, by label; empty where the data set has none.
  virtual const std::vector<std::string>& classes() const = 0;
  /// Where the sample lies, for messages: a path, with the offset where the file holds several.
  virtual std::string locate(std::uint64_t index) const = 0;
  /// A digest of what the source holds, for resume: equal when indices mean the same samples.
  virtual std::uint64_t fingerprint() const = 0;
  /// Whether readers know the stamps of samples.
  virtual bool has_stamps() const { return false; }
  /// The source must outlive the reader.
  virtual Result<std::unique_ptr<SampleReader>> open_reader() = 0;
};

inline Result<FileStamp> SampleReader::stamp(std::uint64_t /*index*/) {
  return fail(ErrorCode::kNotSupported, "the sample is not a file of its own");
}

}  // namespace unstarve::feed
