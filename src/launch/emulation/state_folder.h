#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"

namespace unstarve::launch {

/// The folder that the processes of one emulation share: settings, memory in use, rings, what was
/// missing. It lies in memory (/dev/shm), or in the folder for temporary files where there is none.
///
/// It goes with the object. Of one whose owner was killed, the next emulation of the same user
/// takes away what is left, once the owner's job has ended too.
/// Thread rule: one thread.
class StateFolder {
 public:
  /// Errors: neither place can be written.
  static Result<StateFolder> create();
  /// As create(), in the first of these places that can be written.
  static Result<StateFolder> create_in(const std::vector<std::string>& places);
  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();

  const std::string& path() const { return path_; }
  /// Whose end is waited for before anybody else may take the folder away.
  Status belongs_to(pid_t job);

 private:
  StateFolder(std::string path, FileDescriptor lock);
  std::string path_;     // empty: given away
  FileDescriptor lock_;  // held as long as we live
};

}  // namespace unstarve::launch
