#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// Files that somebody else has listed, each one sample as its bytes: what the list says is what is
/// read, in its order. A file may stand in it several times.
///
/// What all paths begin with is kept once, the rest in one block.
class ListSource final : public SampleSource {
 public:
  struct List {
    std::string paths;                 // each followed by a zero byte
    std::vector<std::int64_t> labels;  // one per path
    std::int64_t max_file_bytes = std::int64_t{1} << 30;
  };
  /// kInvalidArgument when there are no paths, or not as many as labels.
  static Result<std::shared_ptr<ListSource>> open(List list, std::shared_ptr<io::Files> files);

  std::uint64_t size() const override { return labels_.size(); }
  std::int64_t label(std::uint64_t index) const override { return labels_[index]; }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::string locate(std::uint64_t index) const override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  bool has_stamps() const override { return true; }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

  /// As locate(), into a string that keeps its memory.
  void write_path(std::uint64_t index, std::string& path) const;

 private:
  ListSource(List list, std::shared_ptr<io::Files> files);
  void keep_paths(std::string_view paths);

  std::string prefix_;               // of all paths
  std::string rests_;                // one after the other
  std::vector<std::uint64_t> ends_;  // where each ends in rests_
  std::vector<std::int64_t> labels_;
  std::vector<std::string> classes_;  // none: a label is all that is known
  std::uint64_t fingerprint_ = 0;
  std::int64_t max_file_bytes_;
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
};

}  // namespace unstarve::feed
