#include "runs/folder_scan.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/io/files.h"
#include "runs/labels.h"

namespace unstarve::runs {

namespace {

namespace fs = std::filesystem;

/// Adds what the system says of a file to a fingerprint; "-" for one that is not there.
void add_file(io::Files& files, const std::string& path, FoundRun& run) {
  const Result<io::FileState> state = files.state_at(path);
  if (!state) {
    run.fingerprint += "- ";
    return;
  }
  run.fingerprint += fmt::format("{}:{}:{}:{} ", state->identity.inode, state->size,
                                 state->modified_ns, state->changed_ns);
  run.changed_ns = std::max({run.changed_ns, state->modified_ns, state->changed_ns});
}

/// What a run is read from besides its store, and the group's of a run in one.
void add_labels(io::Files& files, const std::string& folder, FoundRun& run) {
  add_file(files, folder + "/" + kTagsFolder, run);
  add_file(files, folder + "/" + kNoteFile, run);
}

/// The names of the folders that lie in one, but for links and hidden ones.
Result<std::vector<std::string>> folders_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (auto entry = fs::directory_iterator(folder, failed); entry != fs::directory_iterator();
       entry.increment(failed)) {
    if (failed) break;
    std::error_code unknown;
    if (entry->is_symlink(unknown) || !entry->is_directory(unknown)) continue;
    std::string name = entry->path().filename().string();
    if (name[0] != '.') names.push_back(std::move(name));
  }
  if (failed) return fail_errno(failed.value(), fmt::format("cannot list the folder {}", folder));
  return names;
}

}  // namespace

std::string whole_path(const std::string& folder) {
  fs::path path = fs::absolute(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

bool is_run(const std::string& folder) {
  std::error_code unknown;
  return fs::is_regular_file(folder + "/" + kStore, unknown);
}

std::optional<FoundRun> find_run(const std::string& folder, const std::string& name) {
  io::Files files;
  const std::string dir = folder + "/" + name;
  const std::string store = dir + "/" + kStore;
  if (!files.exists(store)) return std::nullopt;
  FoundRun run;
  run.name = name;
  add_file(files, store, run);
  add_file(files, store + "-wal", run);
  add_labels(files, dir, run);
  const std::size_t slash = name.find('/');
  if (slash != name.npos) add_labels(files, folder + "/" + name.substr(0, slash), run);
  return run;
}

Result<std::vector<FoundRun>> find_runs(const std::string& folder) {
  if (is_run(folder)) {
    return fail(ErrorCode::kInvalidArgument, "{} is a run itself: name the folder it lies in",
                folder);
  }
  const auto names = folders_in(folder);
  if (!names && names.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound,
                "there is no folder {}: `unstarve run -- COMMAND` makes `runs` where it is started",
                folder);
  }
  if (!names) return forward_error(names);
  std::vector<FoundRun> runs;
  const auto add = [&](const std::string& name) {
    std::optional<FoundRun> run = find_run(folder, name);
    if (!run) return false;
    runs.push_back(*std::move(run));
    return true;
  };
  for (const std::string& name : *names) {
    if (add(name)) continue;
    const auto inner = folders_in(folder + "/" + name);
    if (!inner) continue;  // somebody else's; whose it is says nothing of the others
    for (const std::string& part : *inner) {
      if (add(name + "/" + part) || part != kTrialsFolder) continue;
      const auto trials = folders_in(folder + "/" + name + "/" + part);
      if (!trials) continue;
      for (const std::string& trial : *trials) add(name + "/" + part + "/" + trial);
    }
  }
  return runs;
}

}  // namespace unstarve::runs
