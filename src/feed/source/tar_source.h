#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/data/sample_source.h"
#include "feed/source/read_file.h"
#include "feed/source/tar_index.h"

namespace unstarve::feed {

/// The samples of WebDataset tars, read where they lie in them: nothing is unpacked. Several tars
/// are one data set, in the order of their names. Each tar is indexed when it is first opened;
/// the index is kept for the next time.
class TarSource final : public SampleSource {
 public:
  struct Options {
    std::string path = {};            // a tar, a folder of tars, or a pattern: see find_tars()
    bool skip_other_formats = false;  // leave out samples that are PPM, ...
    std::int64_t max_file_bytes = std::int64_t{1} << 30;  // of an image
    std::string cache_folder = {};                        // for IndexCache; empty: nothing is kept
    std::uint64_t kept_from_samples = 256;                // shorter indexes are made anew each time
    bool accept_cut = false;  // of a tar that ends too early take what is there: TarIndex::scan()
  };
  /// Whether open() is the way to read `path`: it ends in .tar, or is a folder with files that do.
  static bool is_tars(const std::string& path);
  /// Errors name the tar: what it holds of other formats, samples with a label beside some without,
  /// damage, an end before the last file's. Tars without a sample and labels without an image are
  /// none: left_out() has them.
  static Result<std::shared_ptr<TarSource>> open(
      const Options& options, std::shared_ptr<io::Files> files = io::plain_files());

  std::uint64_t size() const override { return ends_.back(); }
  /// The number in .cls; 0 where no sample has one.
  std::int64_t label(std::uint64_t index) const override;
  const std::vector<std::string>& classes() const override { return classes_; }
  std::string locate(std::uint64_t index) const override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<std::string> left_out() const override;
  Result<std::unique_ptr<SampleReader>> open_reader() override;
  bool has_stamps() const override { return true; }

  /// Tars that had to be read to be indexed.
  std::uint64_t scanned() const { return scanned_; }
  std::uint64_t skipped() const { return skipped_; }

  struct Place {
    const std::string& path;
    const TarIndex& index;
    const TarSample& sample;
  };
  Place place(std::uint64_t index) const;

 private:
  struct Tar {
    std::string path;
    TarIndex index;
  };
  TarSource() = default;
  Status add(const Options& options, Tar tar);
  Status check_labels();

  std::vector<Tar> tars_;
  std::vector<std::uint64_t> ends_;   // samples up to the end of each tar
  std::vector<std::string> classes_;  // always empty: a tar has no names for them
  std::shared_ptr<io::Files> files_;  // shared with whoever gave it, for the fault tests
  std::int64_t max_file_bytes_ = 0;
  bool has_labels_ = false;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t scanned_ = 0;
  std::uint64_t skipped_ = 0;
};

/// The tars that `path` names, sorted: itself, those in a folder, or those that match a pattern
/// with `*`, `?`, `[...]`, `{a,b}` or `{000..146}`.
Result<std::vector<std::string>> find_tars(const std::string& path);

}  // namespace unstarve::feed
