#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "feed/data/loader_options.h"
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

}  // namespace unstarve::feed::test
