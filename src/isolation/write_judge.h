#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "isolation/made_files.h"

namespace unstarve::isolation {

/// A system call that waits for an answer.
struct WriteCall {
  pid_t thread = 0;
  int number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

struct WriteJudgement {
  int os_errno = 0;     // 0: it goes on
  std::string refused;  // what would have been changed; empty where it is not worth a word
};

/// Says of a call whether it would change what was there before the trial. Thread rule: one thread
/// at a time.
class WriteJudge {
 public:
  explicit WriteJudge(std::vector<std::string> free) : made_(std::move(free)) {}

  WriteJudgement judge(const WriteCall& call);
  /// Removes what was made, and has the folders that it lay in as old as they were.
  void take_away();

 private:
  using Path = std::optional<std::string>;

  WriteJudgement judge_open(const Path& path, std::uint64_t flags);
  WriteJudgement judge_change(const Path& path);
  WriteJudgement judge_new(const Path& path);
  WriteJudgement judge_rename(const Path& from, const Path& to);
  WriteJudgement judge_link(const Path& from, const Path& to);
  void make(const std::string& path);
  void note_folder_of(const std::string& path);

  MadeFiles made_;
  std::map<std::string, struct stat> folders_;  // in which something was made, as they were
};

}  // namespace unstarve::isolation
