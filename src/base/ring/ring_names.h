#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"

namespace unstarve {

/// The names that the records of a ring refer to by number, where they are too many for its text:
/// a file beside it, one name a line, that only grows. A name's number is its line's, from 0.
std::string ring_names_path(const std::string& ring_path);

/// Thread rule: one thread at a time.
class RingNamesWriter {
 public:
  static Result<RingNamesWriter> create(const std::string& ring_path);

  /// The number of `name`, which is in the file when this returns. Longer than 4096 bytes: its
  /// beginning. One that could not be written: kNoName, and no name is written any more.
  std::uint64_t number_of(std::string_view name);
  static constexpr std::uint64_t kNoName = ~0ULL;

 private:
  explicit RingNamesWriter(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  bool failed_ = false;
};

/// Follows such a file, which may not be there (yet). It is not trusted: what is longer than a name
/// may be is cut, and beyond the millionth there is none.
/// Thread rule: one thread at a time.
class RingNamesReader {
 public:
  explicit RingNamesReader(const std::string& ring_path) : path_(ring_names_path(ring_path)) {}

  /// Empty when there is no such name by now. Valid until the next call.
  std::string_view name(std::uint64_t number);

 private:
  void read_on();
  std::string path_;
  std::vector<std::string> names_;
  std::string begun_;  // a line that is not whole yet
  std::uint64_t offset_ = 0;
};

}  // namespace unstarve
