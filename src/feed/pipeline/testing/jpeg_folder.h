#pragma once

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "feed/pipeline/loader.h"
#include "feed/testing/made_jpeg.h"

namespace unstarve::feed::test {

/// A folder of small JPEGs in two classes, "ants" and "bees", that goes away with the object.
class JpegFolder {
 public:
  static constexpr int kImages = 22;

  JpegFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "unstarve-loader-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    for (int i = 0; i < kImages; ++i) {
      const std::filesystem::path path = path_of(i);
      std::filesystem::create_directories(path.parent_path());
      const auto bytes = make_jpeg(JpegKind::k420, 60 + 3 * i, 90 - i, static_cast<unsigned>(i));
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::ptrdiff_t>(bytes.size()));
    }
  }
  ~JpegFolder() {
    std::error_code left_behind;
    std::filesystem::remove_all(root_, left_behind);
  }
  JpegFolder(const JpegFolder&) = delete;
  JpegFolder& operator=(const JpegFolder&) = delete;

  std::filesystem::path path_of(int i) const {
    return root_ / (i < kImages / 2 ? "ants" : "bees") / (std::to_string(100 + i) + ".jpg");
  }
  void truncate(int i) const {
    std::filesystem::resize_file(path_of(i), std::filesystem::file_size(path_of(i)) / 2);
  }
  /// Batches of four images of 32x32, two threads.
  LoaderOptions options() const {
    LoaderOptions options;
    options.root = root_.string();
    options.batch_size = 4;
    options.transform = training_crop(32);
    options.threads = 2;
    options.prefetch_batches = 4;
    return options;
  }

 private:
  std::filesystem::path root_;
};

/// Mixes all bytes of a batch into `hash`.
inline std::uint64_t hash_of(const HostBatch& batch, std::uint64_t hash) {
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3ULL; };
  const std::size_t bytes = batch.shape().image_bytes() * static_cast<std::size_t>(batch.count);
  for (std::size_t i = 0; i < bytes; ++i) mix(batch.image(0)[i]);
  for (int i = 0; i < batch.count; ++i) mix(static_cast<std::uint64_t>(batch.labels()[i]));
  return hash;
}

struct EpochResult {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  std::vector<int> counts;     // images in each batch
  std::optional<Error> error;  // what ended the epoch early
};

/// Runs one epoch to its end or its error.
inline EpochResult run_epoch(Loader& loader, std::uint32_t epoch) {
  EpochResult result;
  if (const Status status = loader.begin_epoch(epoch); !status) {
    result.error = status.error();
    return result;
  }
  for (;;) {
    Result<NextBatch> next = loader.next(std::chrono::minutes(1));
    if (!next) {
      result.error = next.error();
      return result;
    }
    if (next->state == NextState::kEnd) return result;
    if (next->state == NextState::kTimeout) {
      result.error = Error{ErrorCode::kTimeout, "the loader hangs", 0};
      return result;
    }
    result.hash = hash_of(*next->batch, result.hash);
    result.counts.push_back(next->batch->count);
  }
}

}  // namespace unstarve::feed::test
