#include "emulated/nvml/event_set.h"

#include <fstream>
#include <sstream>

namespace unstarve::emulated {

void NvmlEventSet::add(int gpu, nvml::DeviceHandle handle) {
  read_lines();  // those of before are not its
  members_.push_back({gpu, handle});
}

std::optional<nvml::EventData> NvmlEventSet::next() {
  if (events_.empty()) read_lines();
  if (events_.empty()) return std::nullopt;
  const nvml::EventData event = events_.front();
  events_.pop_front();
  return event;
}

void NvmlEventSet::read_lines() {
  std::ifstream file(file_);
  if (!file.seekg(position_)) return;
  std::string line;
  // A line without its end is still being written.
  while (std::getline(file, line) && !file.eof()) {
    position_ += static_cast<std::int64_t>(line.size()) + 1;
    std::istringstream words(line);
    int gpu = -1;
    std::uint64_t xid = 0;
    if (!(words >> gpu >> xid)) continue;
    for (const Member& member : members_) {
      if (member.gpu != gpu) continue;
      events_.push_back({.device = member.handle, .type = nvml::kEventXid, .data = xid});
    }
  }
}

}  // namespace unstarve::emulated
