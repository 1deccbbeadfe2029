#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "feed/data/sample_source.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// What the header of a NumPy array says (NEP 1, format versions 1 to 3).
struct NpyHeader {
  std::string type;                  // as "<f4" or "|u1"
  std::vector<std::uint64_t> shape;  // of at most 16 axes
  std::uint64_t item_bytes = 0;      // of one value
  std::uint64_t data_offset = 0;     // of the first value in the file

  /// Refused by name: Fortran order, big-endian values, types other than whole numbers, floats and
  /// booleans. `bytes` is the file's start, as much as there is of kNpyHeadBytes.
  static Result<NpyHeader> parse(std::span<const std::byte> bytes);
};
constexpr std::size_t kNpyHeadBytes = 64 * 1024;

/// An array in an .npy file as a data set: a sample is a row of the first axis. Rows of uint8 with
/// the shape (height, width, 3) are images. Labels come from `labels.npy` beside it, whole numbers,
/// one for each row; without that file they are 0.
class NpySource final : public SampleSource {
 public:
  static Result<std::shared_ptr<NpySource>> open(
      const std::string& path, std::shared_ptr<io::Files> files = io::plain_files());

  std::uint64_t size() const override { return header_.shape[0]; }
  std::int64_t label(std::uint64_t index) const override {
    return labels_.empty() ? 0 : labels_[index];
  }
  const std::vector<std::string>& classes() const override { return classes_; }
  std::string locate(std::uint64_t index) const override;
  /// Of the header, the file's size and time, and the labels: not of the values.
  std::uint64_t fingerprint() const override { return fingerprint_; }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

  const NpyHeader& header() const { return header_; }

 private:
  NpySource() = default;
  Status read_labels(const std::string& path);

  std::string path_;
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
  FileDescriptor file_;
  NpyHeader header_;
  std::uint64_t row_bytes_ = 0;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> classes_;  // always empty: an array has no names for them
  std::uint64_t fingerprint_ = 0;
};

}  // namespace unstarve::feed
