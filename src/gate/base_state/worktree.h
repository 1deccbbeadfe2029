#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace unstarve::gate {

/// A git reference, checked out beside the job. What git does not track (data, environments,
/// caches) is linked into it, so that the job finds there what it finds in its own folder. The
/// repository's branches, index and files stay as they are.
///
/// Lifetime: the folder goes with this object.
class Worktree {
 public:
  /// `job_folder`: where the job starts, somewhere in a repository. Errors: kNotFound where there
  /// is no repository, or no such reference; kNotSupported without git.
  static Result<Worktree> check_out(const std::string& reference, const std::string& job_folder);
  Worktree(Worktree&& other) noexcept;
  Worktree& operator=(Worktree&& other) noexcept;
  ~Worktree();

  /// Where the job starts there.
  const std::string& job_folder() const { return job_folder_; }
  /// The words of a command, with those that name something in the repository from the root on
  /// naming it there.
  std::vector<std::string> command_there(const std::vector<std::string>& command) const;
  /// The commit's number, as git abbreviates it.
  const std::string& commit() const { return commit_; }

 private:
  Worktree() = default;
  Status link_untracked();
  void remove();

  std::string repository_;
  std::string folder_;  // empty: it is somebody else's now
  std::string job_folder_;
  std::string commit_;
};

}  // namespace unstarve::gate
