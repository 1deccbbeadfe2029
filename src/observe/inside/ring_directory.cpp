#include "observe/inside/ring_directory.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/ring/ring_names.h"

namespace unstarve::observe {

namespace {

/// A writer gives its file a whole header before its name, or within a few instructions after;
/// what is no ring after that many looks (five seconds of them) will not become one.
constexpr int kTries = 50;

/// Of the file that `path` names now; nothing where it names none.
std::optional<io::FileIdentity> identity_of(const std::string& path) {
  const Result<io::FileState> state = io::Files().state_at(path);
  return state ? std::optional(state->identity) : std::nullopt;
}

/// False when the file is still there. One that took its name meanwhile is left alone. The names
/// that some rings have beside them go with it.
bool remove_file(const std::string& path, const io::FileIdentity& file) {
  if (identity_of(path) != file) return true;
  std::error_code ignored;
  std::filesystem::remove(ring_names_path(path), ignored);
  std::error_code failed;
  std::filesystem::remove(path, failed);
  return !failed;
}

/// Nothing is wrong with the file itself, so that a later look may open it.
bool is_too_many_files(const Error& error) {
  return error.os_errno == EMFILE || error.os_errno == ENFILE;
}

}  // namespace

void RingDirectory::remark_once(const Error& error) {
  const std::string words =
      is_too_many_files(error)
          ? "unstarve had too many files open to read what some processes of the job recorded; "
            "start it with a higher `ulimit -n`"
          : error.message;
  if (std::count(remarks_.begin(), remarks_.end(), words) == 0) remarks_.push_back(words);
}

void RingDirectory::discover() {
  const Result<std::vector<std::string>> paths = trace::list_rings(dir_);
  if (!paths) return remark_once(paths.error());
  for (const std::string& path : *paths) {
    const std::optional<io::FileIdentity> file = identity_of(path);
    if (!file) continue;
    const Key key(path, *file);
    if (rings_.count(key) != 0 || left_behind_.count(key) != 0) continue;
    int& tries = tries_left_.try_emplace(key, kTries).first->second;
    if (tries == 0) continue;
    Result<trace::RingFollower> follower = trace::RingFollower::open(path);
    if (follower) {
      const io::FileIdentity opened = follower->identity();
      rings_.try_emplace({path, opened}, Ring{std::move(*follower)});
      tries_left_.erase(key);
    } else if (is_too_many_files(follower.error()) || --tries == 0) {
      remark_once(follower.error());
    }
  }
}

void RingDirectory::drain(trace::RunSink& sink) {
  for (auto& [key, ring] : rings_) {
    if (ring.failed) continue;
    const Status drained = ring.follower.drain(sink);
    if (!drained) {
      ring.failed = true;
      remarks_.push_back(drained.error().message);
      continue;
    }
    const std::string& remark = ring.follower.remark();
    if (!remark.empty() && std::count(remarks_.begin(), remarks_.end(), remark) == 0) {
      remarks_.push_back(remark);
    }
    ring.finished = ring.ended_before;
    ring.ended_before = ring.follower.writer_ended() || ring.follower.writer_is_gone();
  }
}

void RingDirectory::remove_finished(bool events_are_whole) {
  for (auto entry = rings_.begin(); entry != rings_.end();) {
    const auto& [key, ring] = *entry;
    const bool is_kept = events_are_whole || !ring.follower.is_device_ring();
    if (!ring.finished || ring.failed || !is_kept) {
      ++entry;
      continue;
    }
    const trace::RingMark& mark = ring.follower.mark();
    lost_by_removed_ += mark.lost + mark.damaged;
    // A file that could not be removed must not be read again from its beginning.
    if (!remove_file(key.first, key.second)) left_behind_.insert(key);
    entry = rings_.erase(entry);
  }
}

void RingDirectory::remove_all() {
  for (const auto& [key, ring] : rings_) {
    if (!ring.failed) remove_file(key.first, key.second);
  }
}

std::uint64_t RingDirectory::lost() const {
  std::uint64_t lost = lost_by_removed_;
  for (const auto& [key, ring] : rings_) {
    lost += ring.follower.mark().lost + ring.follower.mark().damaged;
  }
  return lost;
}

}  // namespace unstarve::observe
