#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/pipeline/sample_worker.h"
#include "feed/source/file_reader.h"

namespace unstarve::feed {

/// Loads images one at a time in the calling thread, for whoever goes on with the pixels by
/// himself: a file, named when it is wanted, is read, decoded and transformed.
///
///   auto loader = SampleLoader::open(options, parts.reader, parts.clock);
///   (*loader)->load({"a.jpg", epoch, index, 0}, pixels);
///
/// Thread rule: one thread at a time. A forked child may go on with its copy.
class SampleLoader {
 public:
  /// Of the options, what is about one sample counts: transform, seed, limits, accept_damaged.
  static Result<std::unique_ptr<SampleLoader>> open(const LoaderOptions& options,
                                                    std::shared_ptr<FileReader> files,
                                                    std::shared_ptr<Clock> clock);
  ~SampleLoader();
  SampleLoader(const SampleLoader&) = delete;
  SampleLoader& operator=(const SampleLoader&) = delete;

  struct Sample {
    const std::string& path;
    std::uint32_t epoch = 0;   // with the seed, the index
    std::uint32_t index = 0;   // and how often it was there before in the epoch:
    std::uint16_t repeat = 0;  // every draw, the same as Loader's for a submitted batch
  };
  /// Writes image_bytes() bytes to `out`, which is aligned to the output's type. kInvalidArgument
  /// where `out` has another size; other errors name the file.
  Status load(const Sample& sample, std::span<std::uint8_t> out);

  std::size_t image_bytes() const { return image_bytes_; }

 private:
  class NamedFile;
  SampleLoader(const LoaderOptions& options, std::shared_ptr<FileReader> files,
               std::shared_ptr<Clock> clock);

  const LoaderOptions options_;
  const std::shared_ptr<Clock> clock_;  // shared with whoever gave it
  const std::unique_ptr<NamedFile> file_;
  const std::size_t image_bytes_;
  std::unique_ptr<SampleWorker> worker_;  // last: it uses the above
};

}  // namespace unstarve::feed
