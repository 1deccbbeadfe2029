#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "device/emulated/activity_history.h"

namespace unstarve::device::emulated {

/// One emulated GPU as the NVML library hands it out. Its address is the handle and stays valid.
struct EmulatedDevice {
  std::string path;
  ActivityHistory history;
  bool writer_alive = true;
};

/// The emulated GPUs whose rings (gpu-*.ring) lie in a folder. There are none until a job has made
/// its first; looking again finds more.
/// Thread rule: one thread at a time.
class EmulatedDevices {
 public:
  EmulatedDevices(std::string folder, const Clock& clock)
      : folder_(std::move(folder)), clock_(clock) {}

  /// Looks into the folder again and returns how many devices there are, in the order of their
  /// indices.
  std::size_t refresh();
  EmulatedDevice* at(std::size_t position);
  /// `handle` if it is a device of ours, brought up to date; nullptr otherwise.
  EmulatedDevice* follow(const void* handle);

 private:
  std::string folder_;
  const Clock& clock_;
  std::map<std::string, std::unique_ptr<EmulatedDevice>> by_path_;
  std::vector<EmulatedDevice*> in_order_;
};

}  // namespace unstarve::device::emulated
