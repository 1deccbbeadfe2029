#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace unstarve::cli {

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

/// A new folder for temporary files, removed with all that is in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
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

}  // namespace unstarve::cli
