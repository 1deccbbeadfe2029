#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/cache/cache_folder.h"
#include "feed/cache/cache_stats.h"
#include "feed/cache/cache_writer.h"
#include "feed/data/sample_source.h"

namespace unstarve::feed {

/// A data set of files, of which copies are kept that are read faster: samples that have a copy
/// come as the copy, the others as the file with the wish for one (CopyRole::kWanted).
///
/// A copy counts only while the file's size and times are those that it had when the copy was
/// made, which is looked at with every read. Copies are read from any number of processes, and
/// written from any number; pixels are the same with and without them.
class CachedSource final : public SampleSource {
 public:
  struct Options {
    std::string directory;                                // of all caches
    std::int64_t max_bytes = 0;                           // of this data set's
    std::int64_t max_file_bytes = std::int64_t{1} << 30;  // larger files are the source's
  };
  /// What the tests put others in the place of.
  struct Seams {
    std::shared_ptr<io::Files> storage;
    CacheWriter::StartThread start_thread;
    std::shared_ptr<const Clock> clock;  // shared with the loader
  };
  /// `files` has stamps.
  static Result<std::shared_ptr<CachedSource>> open(const Options& options,
                                                    std::shared_ptr<SampleSource> files,
                                                    const Seams& seams);

  std::uint64_t size() const override { return files_->size(); }
  std::int64_t label(std::uint64_t index) const override { return files_->label(index); }
  const std::vector<std::string>& classes() const override { return files_->classes(); }
  std::string locate(std::uint64_t index) const override { return files_->locate(index); }
  std::uint64_t fingerprint() const override { return files_->fingerprint(); }
  std::vector<std::string> left_out() const override { return files_->left_out(); }
  Result<std::unique_ptr<SampleReader>> open_reader() override;

  CacheStats stats() const;

 private:
  friend class CachedReader;
  CachedSource(const Options& options, std::shared_ptr<SampleSource> files,
               std::unique_ptr<CacheFolder> folder, const Seams& seams);

  Options options_;
  std::shared_ptr<SampleSource> files_;  // shared with whoever gave it
  std::unique_ptr<CacheFolder> folder_;
  std::shared_ptr<const Clock> clock_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> damaged_{0};
  CacheWriter writer_;  // last: its thread uses the above
};

}  // namespace unstarve::feed
