#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unstarve::observe {

/// A kernel on the device.
struct TracedKernel {
  std::string name;
  std::array<std::uint32_t, 3> grid = {1, 1, 1};
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  double start_us = 0;
  double duration_us = 0;
  std::int64_t correlation = -1;
};

/// The call that launched a kernel.
struct TracedLaunch {
  std::int64_t correlation = -1;
  std::string thread;
  double start_us = 0;
};

/// An operation of PyTorch that computes by a library.
struct TracedOperation {
  std::string name;
  std::string thread;
  double start_us = 0;
  double duration_us = 0;
  std::vector<std::vector<std::int64_t>> dims;  // of each argument; empty: no tensor
  std::vector<std::string> types;
  std::vector<std::string> values;  // "[2, 2]"; older profilers do not write them
};

/// The device of a trace, as far as it says.
struct TracedDevice {
  std::string name;
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
  int compute_major = 0;
  int compute_minor = 0;
};

/// Takes the events of a trace apart that durations are made of.
class TracedEventReader {
 public:
  TracedEventReader();
  ~TracedEventReader();
  TracedEventReader(const TracedEventReader&) = delete;
  TracedEventReader& operator=(const TracedEventReader&) = delete;

  /// Keeps what the event is in one of the three lists, or nowhere. `json` is one object, followed
  /// by at least 64 readable bytes.
  Status read(std::string_view json);
  Status read_devices(std::string_view json);

  std::vector<TracedKernel> kernels;
  std::vector<TracedLaunch> launches;
  std::vector<TracedOperation> operations;
  std::vector<TracedDevice> devices;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether PyTorch computes the operation by a library: "aten::addmm".
bool is_library_operation(std::string_view name);

}  // namespace unstarve::observe
