#include "device/emulated/former_nvml/emulated_devices.h"

#include <csignal>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace unstarve::device::emulated {

namespace {

bool is_device_ring(const std::filesystem::path& path) {
  return path.extension() == ".ring" && path.filename().string().rfind("gpu-", 0) == 0;
}

bool is_alive(std::uint64_t pid) {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH;
}

}  // namespace

std::size_t EmulatedDevices::refresh() {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder_, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string path = entry->path().string();
    if (!is_device_ring(entry->path()) || by_path_.count(path) != 0) continue;
    // A ring that is just being made cannot be opened yet; the next look finds it whole.
    Result<ActivityHistory> history = ActivityHistory::open(path);
    if (!history) continue;
    by_path_.emplace(
        path, std::make_unique<EmulatedDevice>(EmulatedDevice{path, std::move(*history), true}));
  }
  in_order_.clear();
  for (const auto& [path, device] : by_path_) in_order_.push_back(device.get());
  std::stable_sort(in_order_.begin(), in_order_.end(), [](const auto* a, const auto* b) {
    return a->history.index() < b->history.index();
  });
  return in_order_.size();
}

EmulatedDevice* EmulatedDevices::at(std::size_t position) {
  return position < in_order_.size() ? in_order_[position] : nullptr;
}

EmulatedDevice* EmulatedDevices::follow(const void* handle) {
  const auto found = std::find(in_order_.begin(), in_order_.end(), handle);
  if (found == in_order_.end()) return nullptr;
  EmulatedDevice& device = **found;
  const std::int64_t now_ns = clock_.now_ns();
  if (device.writer_alive && !is_alive(device.history.writer_pid())) {
    device.writer_alive = false;
    device.history.end_at(now_ns);
  }
  if (!device.history.follow(now_ns)) return nullptr;
  return &device;
}

}  // namespace unstarve::device::emulated
