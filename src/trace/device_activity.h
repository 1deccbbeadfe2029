#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ring/ring_names.h"
#include "trace/store/run_sink.h"

namespace unstarve::trace {

/// What the text of a device ring says: the device, and the names that its kernels refer to.
struct DeviceRingText {
  std::vector<DeviceRow> devices;     // those that it is about by now
  std::optional<std::int64_t> index;  // of the only one; none: each record says which it is of
  std::string remark;                 // what went wrong, for people
  std::vector<std::string> names;
  bool names_beside = false;  // in a file of their own (base/ring_names.h)
};
/// Every key may be missing or of a wrong type; what cannot be used is left out. Nothing when it is
/// no JSON object, as in the moment in which it is rewritten.
std::optional<DeviceRingText> parse_device_ring_text(std::string_view json);

/// The names that a ring's kernels refer to, as a person writes them: "gemm<float>", not mangled.
/// Thread rule: one thread at a time.
class KernelNames {
 public:
  explicit KernelNames(const std::string& ring_path) : beside_(ring_path) {}

  void set_text(const DeviceRingText& text);
  /// Empty: none is known by that number. Valid until the next call.
  std::string_view name(std::uint64_t number);

 private:
  RingNamesReader beside_;
  bool use_beside_ = false;
  std::vector<std::string> in_text_;
  std::vector<std::string> readable_;  // of those in the file beside it, as they are asked for
};

/// What is the same for all records of a ring.
struct DeviceRingView {
  KernelNames* names = nullptr;  // nullptr: none
  std::int64_t device = -1;      // -1: as the records say
  std::int64_t process = 0;      // whose numbers the correlations are
  std::int64_t born_ns = 0;      // when that process made the ring
};

/// Hands one record of a device ring (a CUPTI activity record, base/cupti_ring.h) to `sink` as a
/// device operation, a host call or a window. True also for kinds that have nothing to say here;
/// false for damaged records. Correlations of different processes are different numbers.
bool decode_device_activity(std::span<const std::byte> record, const DeviceRingView& ring,
                            RunSink& sink);

}  // namespace unstarve::trace
