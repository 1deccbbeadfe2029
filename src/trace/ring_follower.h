#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/ring/mapped_ring.h"
#include "trace/device_activity.h"
#include "trace/store/run_sink.h"

namespace unstarve::trace {

/// Reads one ring of a run, hook events or device activity, into rows.
///
///   Result<RingFollower> ring = RingFollower::open(path);
///   ring->drain(sink);   // again and again: only what is new
///
/// Thread rule: one thread at a time.
class RingFollower {
 public:
  static Result<RingFollower> open(const std::string& path);

  /// Leaves out what an earlier reader had taken.
  void skip_to(const RingMark& mark);
  /// Hands everything new to `sink`: changed text first, then records, then the mark.
  Status drain(RunSink& sink);

  bool is_device_ring() const { return reader_.kind() == RingKind::kDeviceActivity; }
  /// The process said that it ends; only for hook rings.
  bool writer_ended() const { return writer_ended_; }
  /// The process ended without a word, or does not have the ring any more.
  bool writer_is_gone() const { return reader_.writer_is_gone(); }
  /// What the writer says for people; empty: nothing.
  const std::string& remark() const { return remark_; }
  /// Position, lost and damaged records so far.
  const RingMark& mark() const { return mark_; }
  /// Which file it is, whatever has its name by now.
  io::FileIdentity identity() const { return reader_.identity(); }

 private:
  RingFollower(RingReader reader, std::string file);
  Status read_text(RunSink& sink);
  ProcessId process() const;

  RingReader reader_;
  RingMark mark_;
  std::uint64_t lost_before_ = 0;  // by the earlier reader
  std::string text_;
  KernelNames kernel_names_;
  RingNamesReader stacks_;    // of a hook ring
  std::int64_t device_ = -1;  // of a device ring whose text was read
  std::string remark_;
  bool announced_ = false;
  bool writer_ended_ = false;
};

/// In words, why processes of the job have no ring in `dir`: what the hook left there instead.
std::vector<std::string> missing_rings(const std::string& dir);

/// Whether a ring of this name holds device activity: what a process did on its GPUs (`cupti-`), or
/// an emulated one (`gpu-`).
bool is_device_ring(std::string_view file);

/// Full paths of the rings in `dir` (RUN/rings), in order of name. An absent folder has none.
Result<std::vector<std::string>> list_rings(const std::string& dir);

}  // namespace unstarve::trace
