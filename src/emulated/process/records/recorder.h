#pragma once

#include <cstdint>

#include "base/cupti_records.h"
#include "emulated/process/api_call.h"

/// What the emulated GPUs of this process did, as CUPTI's activity records (base/cupti_records.h),
/// times in ns of CLOCK_MONOTONIC. Two may want them: the rings (device_ring.h), out of which
/// NVML's stand-in makes readings, of operations alone; and a sink within the process, CUPTI's
/// stand-in.
namespace unstarve::emulated {

/// A call of the runtime or the driver by the program.
struct CallRecord {
  Call kind = Call::kOther;
  bool driver = false;
  /// `call` is the number of CUPTI's enumeration for the runtime or the driver (call_numbers.h);
  /// the end is 0 while the call goes on.
  cupti::ApiCall activity;
};

/// Thread rule: call_begins() and call_ended() come from the thread that calls, with no lock of the
/// emulation held; the others from any thread, and possibly under a device's lock: they must return
/// soon and must not call back into the emulation. Each of a call's operations comes after its
/// call_begins(), before or after its call_ended().
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void call_begins(const CallRecord& call) = 0;
  virtual void call_ended(const CallRecord& call) = 0;
  /// `name` lives for ever; `record.name` is not set.
  virtual void kernel_ended(const cupti::Kernel& record, const char* name) = 0;
  virtual void copy_ended(const cupti::Memcpy& record) = 0;
  virtual void fill_ended(const cupti::Memset& record) = 0;
  /// The wait for the device inside a call, on the thread that waited.
  virtual void wait_ended(const cupti::Synchronization& record) = 0;
};

/// From now on `sink` is told as well; nullptr: nobody within the process. The old one is not
/// called any more when this returns, and none is ever destroyed.
void set_sink(RecordSink* sink);

/// Hands out what has ended by now and was not handed out yet.
void flush_records();

}  // namespace unstarve::emulated
