#include "isolation/made_files.h"

#include <algorithm>

#include "isolation/mount_table.h"

namespace unstarve::isolation {

bool MadeFiles::is_free(const std::string& path) const {
  return std::any_of(free_.begin(), free_.end(),
                     [&](const std::string& folder) { return lies_in(path, folder); });
}

bool MadeFiles::is_made(const std::string& path) const {
  for (std::size_t end = path.size(); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    if (made_.count(path.substr(0, end)) != 0) return true;
  }
  return false;
}

void MadeFiles::make(const std::string& path) {
  if (!is_free(path)) made_.insert(path);
}

void MadeFiles::rename(const std::string& from, const std::string& to) {
  std::vector<std::string> below;
  for (const std::string& path : made_) {
    if (lies_in(path, from)) below.push_back(path);
  }
  for (const std::string& path : below) {
    made_.erase(path);
    make(to + path.substr(from.size()));
  }
  make(to);
}

}  // namespace unstarve::isolation
