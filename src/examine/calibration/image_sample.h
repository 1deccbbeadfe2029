#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"

namespace unstarve::examine {

/// How many images are taken, whichever bound comes first.
struct SampleBounds {
  std::uint64_t images = 0;
  std::uint64_t bytes = 0;
};

/// Links to images, one folder per class.
struct ImageSample {
  std::uint64_t images = 0;
  std::uint64_t bytes = 0;  // of the files
};

/// Makes `folder` a data set of its own: symbolic links to some images of the folder
/// `image_folder`, spread evenly over it, with their classes.
/// Errors: `image_folder` cannot be listed, or `folder` cannot be written.
Result<ImageSample> link_some_images(const std::string& image_folder, const std::string& folder,
                                     const SampleBounds& bounds);

/// What unstarve's loader put into a new cache.
struct FilledCache {
  std::uint64_t images = 0;  // of the folder
  std::uint64_t kept = 0;    // of these, with a copy
  std::uint64_t bytes = 0;   // of the cache
  int epochs = 0;
  double seconds = 0;
  double cpu_s = 0;         // of this process meanwhile
  std::string why_not_all;  // empty where every image has a copy

  bool full() const { return kept >= images; }
};

/// Goes through `image_folder` with unstarve's loader, which keeps copies below the new folder
/// `cache_folder`: one epoch, and a second one where the first did not keep all of them. All that
/// it says was kept is written when it returns. `progress` is told how many images have been loaded
/// in this epoch, and how many it has. Images that cannot be read are left out.
/// Errors: `image_folder` cannot be listed, no image of it is kept, or the disk takes no more.
using FillProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
Result<FilledCache> fill_cache(const std::string& image_folder, const std::string& cache_folder,
                               const FillProgress& progress = {});

/// CPU seconds that this process has used, in all its threads.
double process_cpu_s();

/// A folder for temporary files, removed with all that is in it.
class ScratchFolder {
 public:
  /// A new one where the system has its temporary files.
  static Result<ScratchFolder> make();
  /// `path`, which whoever writes to it makes.
  static ScratchFolder at(std::string path) { return ScratchFolder(std::move(path)); }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace unstarve::examine
