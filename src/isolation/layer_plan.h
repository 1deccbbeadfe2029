#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "isolation/mount_table.h"

namespace unstarve::isolation {

/// What is mounted where a trial sees `path`.
struct MountStep {
  enum class Kind : std::uint8_t {
    kLayer,  // what is there, below a layer that takes all changes
    kKept,   // what is there, as it is
    kReadOnly,
  };
  Kind kind = Kind::kKept;
  std::string path;
  unsigned long flags = 0;   // of the mount that is there, as mount(2) takes them
  bool is_writable = false;  // a layer's folder itself, by this user
};

/// What a plan asks of the folders of this machine; a test has others.
class Folders {
 public:
  virtual ~Folders() = default;
  /// Names of the folders in one; links are none.
  virtual std::vector<std::string> folders_in(const std::string& folder) const;
  virtual bool is_folder(const std::string& path) const;
  virtual bool can_write(const std::string& folder) const;
  virtual bool is_own(const std::string& folder) const;
};

/// For one who may mount what they like, below a root of the trial's own: a layer over each file
/// system that can be written to, the rest as it is (a lone file that is mounted: read-only). In
/// the order in which they are mounted.
std::vector<MountStep> layers_of_all(const std::vector<Mount>& mounts, const Folders& folders);

/// For an ordinary user, in place: the kernel lets them layer a folder only where nothing is
/// mounted below it, and copy up no folder of somebody else's. So each folder of theirs in one of
/// somebody else's has a layer of its own, and each of somebody else's that they may write to: on
/// the way to `known` folders, and elsewhere as far as they are found (three folders deep).
/// Errors: kNotSupported where the user may write to a folder that cannot be layered.
Result<std::vector<MountStep>> layers_of_user(const std::vector<Mount>& mounts,
                                              const Folders& folders,
                                              const std::vector<std::string>& known);

}  // namespace unstarve::isolation
