#include "observe/inside/ring_directory.h"

#include <filesystem>
#include <system_error>

namespace unstarve::observe {

namespace {

/// A writer gives its file a whole header before its name, or within a few instructions after;
/// what is no ring after that many looks (five seconds of them) will not become one.
constexpr int kTries = 50;

}  // namespace

void RingDirectory::discover() {
  for (const std::string& path : trace::list_rings(dir_)) {
    if (rings_.count(path) != 0) continue;
    int& tries = tries_left_.try_emplace(path, kTries).first->second;
    if (tries == 0) continue;
    Result<trace::RingFollower> follower = trace::RingFollower::open(path);
    if (follower) {
      rings_.emplace(path, Ring{std::move(*follower)});
      tries_left_.erase(path);
    } else if (--tries == 0) {
      remarks_.push_back(follower.error().message);
    }
  }
}

void RingDirectory::drain(trace::RunSink& sink) {
  for (auto& [path, ring] : rings_) {
    if (ring.failed) continue;
    const Status drained = ring.follower.drain(sink);
    if (!drained) {
      ring.failed = true;
      remarks_.push_back(drained.error().message);
      continue;
    }
    ring.finished = ring.ended_before;
    ring.ended_before = ring.follower.writer_ended();
  }
}

void RingDirectory::remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void RingDirectory::remove_finished() {
  for (auto entry = rings_.begin(); entry != rings_.end();) {
    if (!entry->second.finished || entry->second.failed) {
      ++entry;
      continue;
    }
    const trace::RingMark& mark = entry->second.follower.mark();
    lost_by_removed_ += mark.lost + mark.damaged;
    remove(entry->first);
    // A file that could not be removed must not be read again from its beginning.
    tries_left_[entry->first] = 0;
    entry = rings_.erase(entry);
  }
}

void RingDirectory::remove_all() {
  for (const auto& [path, ring] : rings_) {
    if (!ring.failed) remove(path);
  }
}

std::uint64_t RingDirectory::lost() const {
  std::uint64_t lost = lost_by_removed_;
  for (const auto& [path, ring] : rings_) {
    lost += ring.follower.mark().lost + ring.follower.mark().damaged;
  }
  return lost;
}

}  // namespace unstarve::observe
