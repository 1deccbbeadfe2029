#include "runs/naming.h"

#include <filesystem>
#include <system_error>

#include "runs/collection.h"
#include "runs/entries.h"
#include "runs/folder_scan.h"

namespace unstarve::runs {

Result<std::string> find_entry(const std::string& named, const std::string& folder) {
  std::error_code unknown;
  if (is_run(named)) return named;
  const std::string inside = folder + "/" + named;
  if (!named.empty() && std::filesystem::is_directory(inside, unknown)) return inside;
  if (!named.empty() && std::filesystem::is_directory(named, unknown)) return named;
  // The store itself, as other commands take it.
  const std::filesystem::path path = named;
  if (path.filename() == kStore && std::filesystem::exists(path, unknown)) {
    const std::string parent = path.parent_path().string();
    return parent.empty() ? std::string(".") : parent;
  }
  if (named == "last") {
    const auto collection = read_collection(folder);
    if (!collection) return forward_error(collection);
    const std::vector<Entry> entries = entries_of(*collection);
    if (!entries.empty()) return folder + "/" + entries.front().name;
  }
  return fail(ErrorCode::kNotFound,
              "there is no run '{}', neither here nor in {}: `unstarve runs list` names those that "
              "there are",
              named, folder);
}

Result<std::string> find_one(const std::string& named, const std::string& folder) {
  auto found = find_entry(named, folder);
  if (!found || is_run(*found)) return found;
  const auto entry = read_entry(*found);
  if (!entry) return forward_error(entry);
  if (is_one_entry(*entry)) return found;
  return fail(ErrorCode::kInvalidArgument, "{} is a folder of runs: `unstarve runs list {}`",
              *found, *found);
}

}  // namespace unstarve::runs
