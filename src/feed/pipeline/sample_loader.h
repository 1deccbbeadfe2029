#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "feed/data/loader_options.h"
#include "feed/data/sample_source.h"
#include "feed/pipeline/loader_parts.h"

namespace unstarve::feed {

/// Loads images one at a time in the calling thread, for whoever goes on with the pixels by
/// himself: a file, named when it is wanted, is read, decoded and transformed.
///
///   auto loader = SampleLoader::open(options, nullptr, LoaderParts::real());
///   (*loader)->load({"a.jpg", epoch, index, 0}, pixels);
///
/// Thread rule: one thread at a time. A forked child opens its own.
class SampleLoader {
 public:
  /// Of the options, what is about one sample counts: transform, seed, limits, accept_damaged, and
  /// where there is a `list` of the files, the cache, whose copies are of samples in a list.
  static Result<std::unique_ptr<SampleLoader>> open(const LoaderOptions& options,
                                                    std::shared_ptr<SampleSource> list,
                                                    const LoaderParts& parts);
  /// Writes the copies that wait.
  ~SampleLoader();
  SampleLoader(const SampleLoader&) = delete;
  SampleLoader& operator=(const SampleLoader&) = delete;

  struct Sample {
    const std::string& path;   // where there is a list, what it has at the index
    std::uint32_t epoch = 0;   // with the seed, the index
    std::uint32_t index = 0;   // and how often it was there before in the epoch:
    std::uint16_t repeat = 0;  // every draw, the same as Loader's for a submitted batch
    /// What stands in the file, where somebody has read it; the path only names it then. Without a
    /// list; until load() returns.
    std::span<const std::byte> bytes = {};
  };
  /// Writes image_bytes() bytes to `out`, which is aligned to the output's type. kInvalidArgument
  /// where `out` has another size or the list another path; other errors name the file.
  Status load(const Sample& sample, std::span<std::uint8_t> out);

  std::size_t image_bytes() const;

 private:
  struct Impl;
  explicit SampleLoader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::feed
