#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace unstarve {

/// A folder of a test's own, gone with the test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "unstarve-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace unstarve
