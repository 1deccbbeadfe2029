#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "feed/data/sample_reader.h"

namespace unstarve::feed {

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
  /// What of the data set is left out, with how much of it; a sentence each.
  virtual std::vector<std::string> left_out() const { return {}; }
  /// Whether readers know the stamps of samples.
  virtual bool has_stamps() const { return false; }
  /// The source must outlive the reader.
  virtual Result<std::unique_ptr<SampleReader>> open_reader() = 0;
};

}  // namespace unstarve::feed
