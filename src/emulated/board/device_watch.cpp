#include "emulated/board/device_watch.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace unstarve::emulated {

namespace {

bool is_gone(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

}  // namespace

DeviceWatch::DeviceWatch(const Profile& profile, int index, std::string rings_folder,
                         std::int64_t now_ns)
    : profile_(profile),
      index_(index),
      folder_(std::move(rings_folder)),
      history_(profile, now_ns) {}

void DeviceWatch::find_rings() {
  const std::string prefix = "gpu-" + std::to_string(index_) + "-";
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string path = entry->path().string();
    const bool ours = entry->path().extension() == ".ring" &&
                      entry->path().filename().string().compare(0, prefix.size(), prefix) == 0;
    const auto known = rings_.find(path);
    if (!ours || (known != rings_.end() && !known->second.ended)) continue;
    // A ring that is just being made cannot be opened yet; the next look finds it whole.
    Result<RingReader> ring = RingReader::open(path);
    if (!ring || ring->kind() != RingKind::kDeviceActivity) continue;
    if (known != rings_.end()) {
      // A process of the same number as an ended one's.
      if (known->second.ring.identity() == ring->identity()) continue;
      rings_.erase(known);
    }
    rings_.emplace(path, Followed{std::move(*ring)});
  }
}

DeviceWatch::Read DeviceWatch::read_rings() {
  Read read;
  for (auto& [path, followed] : rings_) {
    if (followed.ended) continue;
    const auto pid = static_cast<std::int64_t>(followed.ring.writer_pid());
    const bool gone = is_gone(pid);  // asked before reading: then nothing comes any more
    const Result<std::uint64_t> drained =
        followed.ring.drain([&](std::span<const std::byte> record) {
          const auto operation = board_operation(record, profile_);
          if (!operation) return;
          read.operations.emplace_back(pid, *operation);
          read.earliest_ns = std::min(read.earliest_ns, operation->start_ns);
        });
    if (followed.ring.lost() > 0) read.lost = true;
    followed.ended = gone || !drained;
  }
  return read;
}

void DeviceWatch::start(const Read& read, std::int64_t now_ns) {
  std::int64_t start_ns = now_ns;
  for (const auto& [path, followed] : rings_) {
    const std::int64_t created_ns = followed.ring.created_ns();
    if (created_ns > 0) start_ns = std::min(start_ns, created_ns);
  }
  const bool late = read.lost && read.earliest_ns > start_ns && read.earliest_ns < now_ns;
  if (!late) {
    history_ = BoardHistory(profile_, start_ns);
    return;
  }
  double load_ns = 0;
  for (const auto& [pid, operation] : read.operations) {
    load_ns += operation.power_load * static_cast<double>(operation.end_ns - operation.start_ns);
  }
  history_ = BoardHistory(profile_, read.earliest_ns,
                          1e-9 * static_cast<double>(read.earliest_ns - start_ns),
                          load_ns / static_cast<double>(now_ns - read.earliest_ns));
}

void DeviceWatch::follow(std::int64_t now_ns) {
  find_rings();
  const Read read = read_rings();
  if (!started_) start(read, now_ns);
  started_ = true;
  for (const auto& [pid, operation] : read.operations) history_.add(pid, operation);
  history_.close_until(now_ns);
}

}  // namespace unstarve::emulated
