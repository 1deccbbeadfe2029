#pragma once

#include <set>
#include <string>
#include <vector>

namespace unstarve::isolation {

/// Which files and folders a trial has made, of which it may do what it likes, and what was there
/// before. Paths are absolute, without links in them.
class MadeFiles {
 public:
  /// `free`: folders of which nothing is noted, and in which everything is allowed.
  explicit MadeFiles(std::vector<std::string> free) : free_(std::move(free)) {}

  bool is_free(const std::string& path) const;
  /// Whether the trial made it, or what it lies in.
  bool is_made(const std::string& path) const;
  void make(const std::string& path);
  void rename(const std::string& from, const std::string& to);
  /// Folders before what lies in them.
  const std::set<std::string>& all() const { return made_; }

 private:
  std::vector<std::string> free_;
  std::set<std::string> made_;
};

}  // namespace unstarve::isolation
