#pragma once

#include <string>

namespace unstarve::isolation {

/// A file that a trial finds with another text, and everybody else as it is.
struct FileChange {
  std::string path;  // absolute
  std::string text;
};

}  // namespace unstarve::isolation
