#include "runs/removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/io/files.h"
#include "base/unique_handle.h"
#include "base/units.h"
#include "runs/entries.h"
#include "runs/folder_scan.h"
#include "runs/index.h"
#include "runs/labels.h"

namespace unstarve::runs {

namespace {

namespace fs = std::filesystem;

enum class Place {
  kRun,      // by itself, perhaps in a folder that its user had before
  kTrial,    // a run in a folder of runs that belong together
  kGroup,    // that folder
  kRings,    // of a run
  kTags,     // of a run or a group
  kOfTrial,  // what a trial is kept apart by
};

using NameList = std::span<const std::string_view>;

constexpr std::array<std::string_view, 9> kFilesOfRuns = {
    "run.sqlite",         "run.sqlite-wal", "run.sqlite-shm",
    "run.sqlite-journal", "report.html",    "diagnosis.json",
    "job_output.log",     "tracked.json",   kNoteFile};
constexpr std::array<std::string_view, 2> kFilesOfTrials = {"output.log", "tune.json"};
constexpr std::array<std::string_view, 8> kFilesOfGroups = {
    "report.html", "trials.json",   "fix.patch", "tune.json",
    "tune.patch",  "journal.jsonl", kNoteFile,   kIndexFile};

// A trial's end empties them; what a killed one left there is its job's.
constexpr std::array<std::string_view, 2> kFoldersOfTrials = {"trackers", "written"};
constexpr std::array<std::string_view, 1> kFoldersOfGroups = {"caches"};

bool is_among(std::string_view name, NameList names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

/// "events-0.uev": `before`, digits, `behind`.
bool is_numbered(std::string_view name, std::string_view before, std::string_view behind) {
  if (name.size() <= before.size() + behind.size()) return false;
  const std::string_view number =
      name.substr(before.size(), name.size() - before.size() - behind.size());
  return begins(name, before) && ends(name, behind) &&
         std::all_of(number.begin(), number.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

bool is_of_run(std::string_view name) {
  return is_among(name, kFilesOfRuns) || is_numbered(name, "events-", ".uev") ||
         is_numbered(name, "kineto-", ".json.gz") || is_numbered(name, "kineto-", ".json");
}

/// Whether unstarve gives a file such a name there.
bool is_ours(Place place, std::string_view name, std::int64_t size) {
  switch (place) {
    case Place::kTags: return size == 0 && check_tag(std::string(name)).has_value();
    case Place::kOfTrial: return false;
    case Place::kRings:
      return begins(name, "hook-") || begins(name, "cupti-") || begins(name, "gpu-");
    case Place::kRun:
    case Place::kTrial:
    case Place::kGroup: break;
  }
  // What a killed writer left of a file that it was about to put in place.
  if (begins(name, ".unstarve-") && ends(name, ".tmp")) return true;
  if (place == Place::kGroup) return is_among(name, kFilesOfGroups);
  return is_of_run(name) || (place == Place::kTrial && is_among(name, kFilesOfTrials));
}

struct DirCloser {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

Result<std::vector<std::string>> names_in(int folder) {
  FileDescriptor own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return fail_errno(errno, "cannot list a folder");
  const std::unique_ptr<DIR, DirCloser> dir(::fdopendir(own.get()));
  if (!dir) return fail_errno(errno, "cannot list a folder");
  (void)own.release();
  std::vector<std::string> names;
  while (const dirent* const entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  // The store goes last: what is left of a removal that was killed is still a run of ours.
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a == kStore, a) < std::pair(b == kStore, b);
  });
  return names;
}

/// Removes by descriptors of folders, so that no link is followed, whatever is put there meanwhile.
class Remover {
 public:
  explicit Remover(Removing how) : how_(how) {}

  /// Whether nothing is left in the folder.
  Result<bool> empty_folder(int folder, Place place, const std::string& shown) {
    const auto names = names_in(folder);
    if (!names) return forward_error(names);
    bool is_empty = true;
    for (const std::string& name : *names) {
      const auto gone = remove(folder, name, place, shown + name);
      if (!gone) return gone;
      is_empty = is_empty && *gone;
    }
    return is_empty;
  }
  Removal take() { return std::move(removal_); }

 private:
  Result<bool> remove(int folder, const std::string& name, Place place, const std::string& shown) {
    struct stat state {};
    if (::fstatat(folder, name.c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return true;  // somebody else removed it
      return fail_errno(errno, "cannot remove " + shown);
    }
    if (S_ISDIR(state.st_mode)) return remove_folder(folder, name, place, shown);
    if (!S_ISREG(state.st_mode) || !is_ours(place, name, state.st_size)) return leave(shown);
    removal_.bytes += state.st_size;
    ++removal_.files;
    const bool failed = how_ == Removing::kDo && ::unlinkat(folder, name.c_str(), 0) != 0;
    if (failed && errno != ENOENT) return fail_errno(errno, "cannot remove " + shown);
    return true;
  }

  Result<bool> remove_folder(int folder, const std::string& name, Place place,
                             const std::string& shown) {
    const FileDescriptor inner(
        ::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!inner) return leave(shown + "/");
    const auto kind = kind_of(place, name, inner.get());
    if (!kind) return leave(shown + "/");
    const auto is_empty = empty_folder(inner.get(), *kind, shown + "/");
    if (!is_empty || !*is_empty || how_ == Removing::kPlan) return is_empty;
    if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
    return fail_errno(errno, "cannot remove " + shown);
  }

  static std::optional<Place> kind_of(Place place, std::string_view name, int folder) {
    const bool in_run = place == Place::kRun || place == Place::kTrial;
    if (place == Place::kOfTrial) return place;
    if (name == kTagsFolder && (in_run || place == Place::kGroup)) return Place::kTags;
    if (name == "rings" && in_run) return Place::kRings;
    if (place == Place::kTrial && is_among(name, kFoldersOfTrials)) return Place::kOfTrial;
    if (place != Place::kGroup) return std::nullopt;
    if (name == kTrialsFolder) return Place::kGroup;
    if (is_among(name, kFoldersOfGroups)) return Place::kOfTrial;
    struct stat state {};
    const bool is_run =
        ::fstatat(folder, kStore, &state, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(state.st_mode);
    return is_run ? std::optional(Place::kTrial) : std::nullopt;
  }

  bool leave(const std::string& shown) {
    removal_.left.push_back(shown);
    return false;
  }

  const Removing how_;
  Removal removal_;
};

/// All runs there are ours, can be read and have ended.
Status check_removable(const std::string& folder, const host::HostFiles& files) {
  std::error_code unknown;
  if (fs::is_symlink(folder, unknown)) {
    return fail(ErrorCode::kInvalidArgument, "{} is a link: name the folder that it leads to",
                folder);
  }
  const auto entry = read_entry(folder);
  if (!entry) return forward_error(entry);
  if (!is_run(folder) && !is_one_entry(*entry)) {
    return fail(ErrorCode::kInvalidArgument,
                "{} is a folder of runs, and no run: name one of them, or `unstarve runs prune {}`",
                folder, folder);
  }
  for (const CollectedRun& run : entry->runs) {
    const std::string name = entry->folder + "/" + run.summary.name;
    if (!run.summary.problem.empty()) {
      return fail(ErrorCode::kNotSupported,
                  "{} is not removed, since it cannot be read as a run: {}", name,
                  run.summary.problem);
    }
    if (is_in_use(run.summary, files, io::Files().now_ns())) {
      return fail(ErrorCode::kInvalidArgument,
                  "{} goes on, or its report is being made: wait for its end, or end it", name);
    }
  }
  return {};
}

bool may_go(const Entry& entry, const host::HostFiles& files, std::int64_t now_ns) {
  return std::all_of(entry.runs.begin(), entry.runs.end(), [&](const CollectedRun* run) {
    return run->summary.tags.empty() && run->summary.problem.empty() &&
           !is_in_use(run->summary, files, now_ns);
  });
}

}  // namespace

Result<Removal> remove_entry(const std::string& folder, Removing how,
                             const host::HostFiles& files) {
  const std::string whole = whole_path(folder);
  if (const Status fine = check_removable(whole, files); !fine) return forward_error(fine);
  const FileDescriptor opened(
      ::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return fail_errno(errno, "cannot open " + whole);
  Remover remover(how);
  const auto is_empty =
      remover.empty_folder(opened.get(), is_run(whole) ? Place::kRun : Place::kGroup, "");
  if (!is_empty) return forward_error(is_empty);
  Removal removal = remover.take();
  removal.folder_goes = *is_empty;
  if (!*is_empty || how == Removing::kPlan) return removal;
  if (::rmdir(whole.c_str()) != 0 && errno != ENOENT) {
    return fail_errno(errno, "cannot remove the folder " + whole);
  }
  return removal;
}

Prunable prunable(const Collection& collection, const PruneOptions& options,
                  const host::HostFiles& files, std::int64_t now_ns) {
  constexpr double kNsPerDay = 24.0 * 3600 * 1e9;
  std::vector<Entry> entries = entries_of(collection);
  std::reverse(entries.begin(), entries.end());  // the oldest first
  Prunable result;
  for (const CollectedRun& run : collection.runs) result.bytes_kept += run.summary.size_bytes;
  for (const Entry& entry : entries) {
    if (!may_go(entry, files, now_ns)) continue;
    // A group is as old as its newest run.
    const std::int64_t began_ns = entry.runs.back()->summary.started_wall_ns;
    const bool too_old = options.keep_days > 0 &&
                         static_cast<double>(now_ns - began_ns) > options.keep_days * kNsPerDay;
    const bool too_much = options.bytes_most > 0 && result.bytes_kept > options.bytes_most;
    if (!too_old && !too_much) continue;
    for (const CollectedRun* run : entry.runs) result.bytes_kept -= run->summary.size_bytes;
    result.names.push_back(entry.name);
  }
  return result;
}

}  // namespace unstarve::runs
