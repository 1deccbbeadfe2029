#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/files.h"
#include "base/result.h"

namespace unstarve::host {

/// The files through which Linux tells about itself, below a root that tests move.
///
///   HostFiles files;                       // "/": this machine
///   HostFiles recorded("testdata/v2");     // a folder with proc/ and sys/ in it
///   Result<std::string> text = files.read("/proc/meminfo");
///
/// Thread rule: any thread.
class HostFiles {
 public:
  /// `files` may be such as fail.
  explicit HostFiles(std::string root = "", std::shared_ptr<io::Files> files = io::plain_files());

  /// The whole file at `path` (absolute, without the root). Files of /proc have no size of their
  /// own, so what is longer than `bytes_max` is an error, not a cut.
  Result<std::string> read(const std::string& path, std::size_t bytes_max = kFileBytesMax) const;
  /// Entries of a folder that are numbers: the processes of /proc, the threads of a task folder.
  Result<std::vector<std::int64_t>> list_numbers(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// What a link holds: of an open file in /proc/PID/fd its path, or "socket:[7]".
  Result<std::string> link_target(const std::string& path) const;

  static constexpr std::size_t kFileBytesMax = 1U << 20;

 private:
  std::string root_;
  std::shared_ptr<io::Files> files_;  // shared with the test that makes them fail
};

}  // namespace unstarve::host
