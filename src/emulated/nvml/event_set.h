#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "device/cuda/nvml_abi.h"

namespace unstarve::emulated {

namespace nvml = device::nvml;

/// What nvmlEventSetCreate makes. Emulated GPUs have no errors of their own: they report those that
/// somebody writes into a file (UNSTARVE_EMULATED_ERRORS), a line "GPU XID" each, after the GPU was
/// registered. So programs can be tried that look for errors.
class NvmlEventSet {
 public:
  /// `file` may not be there yet.
  explicit NvmlEventSet(std::string file) : file_(std::move(file)) {}

  /// Reports the GPU's errors from now on; `handle` is what is given back with them.
  void add(int gpu, nvml::DeviceHandle handle);
  /// The next that has come, if any has.
  std::optional<nvml::EventData> next();

 private:
  struct Member {
    int gpu = 0;
    nvml::DeviceHandle handle = nullptr;
  };
  void read_lines();

  std::string file_;
  std::int64_t position_ = 0;  // behind the last line that was read
  std::vector<Member> members_;
  std::deque<nvml::EventData> events_;
};

}  // namespace unstarve::emulated
