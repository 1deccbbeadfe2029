#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/child_entry.h"

namespace unstarve::isolation {

/// Watches what a process and its children write, where no layer can be put over their files: they
/// make files, and what they made is taken away at the end; to write over, rename or remove what
/// was there before fails with EROFS, and is told.
///
///   auto guard = WriteGuard::prepare({"/home/me/runs/1"});
///   start a child that calls guard->entry() first
///   guard->watch();
///   ... the child has ended
///   guard->end();
///
/// It is no wall: who means to get past it does (what a path is may change behind its look).
/// Thread rule: one thread; it has one of its own from watch() to end().
class WriteGuard {
 public:
  /// `free`: folders below which everything is allowed and left. Errors: kNotSupported where the
  /// kernel has no such filter, or it is forbidden.
  static Result<WriteGuard> prepare(std::vector<std::string> free);
  WriteGuard(WriteGuard&&) noexcept;
  WriteGuard& operator=(WriteGuard&&) noexcept;
  ~WriteGuard();

  ChildEntry entry() const;
  /// Once there is a child: waits for its entry. Errors: its filter could not be taken over.
  Status watch();
  /// What was there before and would have been changed, in the order in which it was tried; at most
  /// kMostTold. Any thread.
  std::vector<std::string> refused() const;
  /// When no process is left: takes away what was made.
  void end();

  static constexpr std::size_t kMostTold = 16;

 private:
  struct Impl;
  explicit WriteGuard(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace unstarve::isolation
