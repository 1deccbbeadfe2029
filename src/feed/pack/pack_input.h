#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"
#include "feed/source/read_file.h"

namespace unstarve::feed {

/// What is packed: files by index, with their labels and the names that they get back when they
/// are unpacked. Thread rule: any thread, each with a buffer of its own.
class PackInput {
 public:
  virtual ~PackInput() = default;
  virtual std::uint64_t size() const = 0;
  /// The file's path below the data set's root, with '/'.
  virtual std::string_view name(std::uint64_t index) const = 0;
  virtual std::int32_t label(std::uint64_t index) const = 0;
  virtual const std::vector<std::string>& classes() const = 0;
  /// A digest of names and labels.
  virtual std::uint64_t fingerprint() const = 0;
  /// Files that are left out, for they are no images.
  virtual std::uint64_t left_out() const = 0;
  /// The file's bytes, in `buffer`. The error names the file.
  virtual Result<std::span<const std::byte>> read(std::uint64_t index,
                                                  std::vector<std::byte>& buffer) = 0;
};

/// The images of a folder, in the order and with the labels of torchvision's ImageFolder: classes
/// are the sorted names of the sub-folders; a folder without sub-folders is one class.
Result<std::unique_ptr<PackInput>> open_folder_input(const std::string& root,
                                                     std::shared_ptr<io::Files> files);

}  // namespace unstarve::feed
